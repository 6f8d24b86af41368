import { type Scene, sentenceOf } from '@orrery/visualiser/model';
import { agentRow, ratesOf, shownOf } from './team-rows.ts';

/** A scene as JSON, for programs. Times are Unix milliseconds. */
export function sceneJson(scene: Scene): object {
  const shown = shownOf(scene);
  const { waits, troubles } = shown;
  const { about, atMs, startedAtMs, totals, deadLetters, deadLetterTotal, leftOut, mission, spending } =
    scene;
  const { owner: _ofTotals, ...counted } = totals;
  return {
    format: 'orrery-scene',
    version: 1,
    ...about,
    atMs,
    startedAtMs,
    sentence: sentenceOf(scene, waits, troubles),
    troubles,
    waits,
    agents: [...scene.agents.values()].map((agent) => {
      const { owner: _owner, perSecond: _perSecond, second: _second, begun: _begun, ...rest } = agent;
      const { status: activity, rate } = agentRow(shown, agent);
      return { ...rest, activity, perSecond: Number(rate) };
    }),
    places: [...scene.places.values()].map(withoutOwner),
    peers: [...scene.peers.values()],
    machines: [...scene.machines.values()].map(({ owner: _owner, key: _key, facts, ...machine }) => ({
      ...machine,
      facts: Object.fromEntries(facts),
    })),
    ...(mission === undefined ? {} : { mission: missionJson(mission) }),
    totals: counted,
    perSecond: ratesOf(scene),
    spending: {
      tokens: spending.tokens,
      costUsd: spending.costUsd,
      tokenLimit: spending.tokenLimit,
      costLimit: spending.costLimit,
    },
    account: scene.account,
    deadLetters: { total: deadLetterTotal, last: deadLetters },
    leftOut,
  };
}

const withoutOwner = <T extends { readonly owner: number }>({
  owner: _owner,
  ...rest
}: T): Omit<T, 'owner'> => rest;

const missionJson = ({ owner: _owner, tasks, ...mission }: Scene['mission'] & {}): object => ({
  ...mission,
  tasks: [...tasks.values()].map(({ facts, ...task }) => ({ ...task, facts: Object.fromEntries(facts) })),
});
