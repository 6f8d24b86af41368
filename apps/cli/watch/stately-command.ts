import type { WatchedEvent, WatchState } from '@orrery/visualiser/model';
import type { MachineDrawing } from 'orrery/machines';
import type { CommandDeps } from '../command.ts';
import { runtimeFolder } from '../own-folder.ts';
import type { TypedOptions } from '../run-plan.ts';
import { UsageError } from '../usage-error.ts';
import { StatelyEvents } from './stately-events.ts';
import { isServed, watchTarget } from './watch-target.ts';
import { type LinkStatus, type WatchSink, WatchLink, WatchRefused, type WatchTarget } from './watch-link.ts';

const DEFAULT_INSPECTOR = 'ws://localhost:8080';
const EXIT_FAILED = 1;
/** Messages that wait for an inspector that is not there, or takes none. */
const MAX_HELD = 1_000;
const MAX_BACKLOG_BYTES = 4_000_000;
const RETRY_MS = 1_000;

/**
 * Runs `orrery stately`: tells an inspector of Stately's what the state machines of a running team do, until somebody ends it.
 * Resolves to the exit code.
 */
export async function statelyCommand(options: TypedOptions, deps: CommandDeps): Promise<number> {
  const { screen, errors, clock, interruption } = deps;
  const url = inspectorUrl(options['to']);
  const target = await watchTarget(options, { folder: runtimeFolder(process.env), isServed });
  try {
    const stately = new StatelyEvents(await drawingsOf(target()));
    using inspector = new Inspector(url, { clock, onLost: () => stately.forget() });
    const sink: WatchSink = {
      state: (_state: WatchState) => undefined,
      events: (events: readonly WatchedEvent[]) => {
        for (const event of events) for (const message of stately.of(event)) inspector.send(message);
      },
      linked: (status: LinkStatus) => screen.write(`${sentenceOf(status, target(), url)}\n`),
    };
    await new WatchLink({ target, fetch, clock, sink }).run(interruption.signal);
    return interruption.exitCode;
  } catch (error) {
    if (!(error instanceof WatchRefused)) throw error;
    errors.write(`orrery: ${error.message}\n`);
    return EXIT_FAILED;
  }
}

function inspectorUrl(typed: string | true | undefined): string {
  const text = String(typed ?? DEFAULT_INSPECTOR);
  const url = URL.parse(text);
  if (url === null || !/^wss?:$/.test(url.protocol))
    throw new UsageError(`Option "--to" is "${text}", expected a URL such as ${DEFAULT_INSPECTOR}`);
  return text;
}

function sentenceOf(status: LinkStatus, { url }: WatchTarget, to: string): string {
  if (status.kind === 'live') return `${to} is told what the machines of ${url} do; Ctrl-C ends it`;
  return status.kind === 'connecting' ? `Connecting to ${url}` : `${url} is lost: ${status.why}`;
}

/** What the team's machines look like. Rejects with WatchRefused if it does not let us see that. */
async function drawingsOf({ url, token }: WatchTarget): Promise<readonly MachineDrawing[]> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const response = await fetch(`${url}/watch/machines`, { headers });
  if (!response.ok)
    throw new WatchRefused(`${url} does not let its machines be seen: it answers ${response.status}`);
  const { machines } = (await response.json()) as { readonly machines: readonly MachineDrawing[] };
  return machines;
}

/** `onLost`: whoever comes next has been told nothing. */
interface InspectorDeps extends Pick<CommandDeps, 'clock'> {
  readonly onLost: () => void;
}

/** The connection to an inspector, which is made again when it is lost. What it cannot take meanwhile is left out. */
class Inspector implements Disposable {
  readonly #url: string;
  readonly #deps: InspectorDeps;
  #socket: WebSocket | undefined;
  #held: object[] = [];
  #cancel: () => void = () => undefined;
  #isOver = false;

  constructor(url: string, deps: InspectorDeps) {
    this.#url = url;
    this.#deps = deps;
    this.#open();
  }

  send(message: object): void {
    const socket = this.#socket;
    if (socket?.readyState === WebSocket.OPEN) {
      if (socket.bufferedAmount < MAX_BACKLOG_BYTES) socket.send(JSON.stringify(message));
    } else if (this.#held.length < MAX_HELD) this.#held.push(message);
  }

  [Symbol.dispose](): void {
    this.#isOver = true;
    this.#cancel();
    this.#socket?.close();
  }

  #open(): void {
    const socket = new WebSocket(this.#url);
    this.#socket = socket;
    socket.addEventListener('open', () => {
      const held = this.#held;
      this.#held = [];
      for (const message of held) this.send(message);
    });
    socket.addEventListener('close', () => {
      if (this.#isOver) return;
      this.#deps.onLost();
      this.#cancel = this.#deps.clock.setTimer(RETRY_MS, () => this.#open());
    });
    // What went wrong comes as its close.
    socket.addEventListener('error', () => undefined);
  }
}
