import type { Race } from '../measurement.ts';
import type { Plugin } from '../plugin.ts';
import { bareStream, orreryNodes, type PeerJob, WIDTH } from '../peers/contender.ts';
import { type LinkKind, LINKS } from '../peers/peer-order.ts';

const TITLES: Readonly<Record<PeerJob, string>> = {
  ask: `Ask an agent of another node, ${WIDTH} in flight`,
  tell: 'Tell an agent of another node, 21 senders',
  stream: 'Read a stream of an agent of another node',
};

const NAMES: Readonly<Record<LinkKind, string>> = {
  websocket: 'WebSocket',
  hyperswarm: 'Hyperswarm',
  libp2p: 'libp2p',
};

const race = (link: LinkKind, job: PeerJob): Race => ({
  kind: 'race',
  name: `peers-${job}-${link}`,
  title: `${TITLES[job]}, over ${NAMES[link]}`,
  unit: 'per second',
  openMs: 120_000,
  contenders: [orreryNodes(link, job), bareStream(link, job)],
  comparisons: [
    { contender: 'orrery', baseline: 'bare stream', of: 'rate', goal: { better: 'more', target: 0.5 } },
  ],
});

/** Two processes of one machine, by what carries what they say: at least half of the bare stream's rate is wanted. */
const peers: readonly Race[] = LINKS.flatMap((link) =>
  (['ask', 'tell', 'stream'] as const).map((job) => race(link, job)),
);

export const plugin: Plugin = { measurements: peers };
