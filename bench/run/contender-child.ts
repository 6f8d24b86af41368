import { cpuMeter, peakBytes, residentBytes } from '../machine/own-usage.ts';
import { type Contender, type Session, Unavailable } from '../measurement.ts';
import { loadPlugin } from '../plugin.ts';
import { within } from '../within.ts';
import { CLOSE_MS, RUN_MS } from './contender-limits.ts';
import { isWarm } from './warm-up.ts';
import { type AnswerTo, ContenderOrder, Turn, type TurnAnswer } from './contender-protocol.ts';

// The process of one contender: it is told when to run, and nobody else's code is compiled or collected here.

const FIRST_COUNT = 64;
const US_PER_MS = 1_000;

const order = ContenderOrder.parse(JSON.parse(process.argv[2] ?? ''));

/** A contender that was opened, and how many operations it does in one run. */
class Lane {
  readonly #session: Session;
  #count = FIRST_COUNT;

  constructor(session: Session) {
    this.#session = session;
  }

  /** Runs for a while, so that what is measured is compiled code. */
  async warmUp(): Promise<void> {
    const startMs = performance.now();
    const start = process.cpuUsage();
    for (;;) {
      const before = this.#count;
      this.#resize(await this.#timed(), 8);
      const { user, system } = process.cpuUsage(start);
      const taken = { wallMs: performance.now() - startMs, cpuMs: (user + system) / US_PER_MS };
      if (this.#count < before * 1.5 && isWarm(taken, order.warmUpMs)) return;
    }
  }

  async run(): Promise<AnswerTo<'ran'>> {
    const count = this.#count;
    const taken = cpuMeter();
    const perSecond = await this.#timed();
    const { allMs, childMs } = taken();
    this.#resize(perSecond, 2);
    return {
      answer: 'ran',
      perSecond,
      cpuMicroseconds: (allMs * US_PER_MS) / count,
      childCpuMicroseconds: (childMs * US_PER_MS) / count,
      bytes: residentBytes(),
    };
  }

  /** Sizes the next run by the last one, in steps: every contender gets the same time, not the same work. */
  #resize(perSecond: number, most: number): void {
    const wanted = Math.round((perSecond * order.runMs) / 1_000);
    this.#count = Math.max(
      FIRST_COUNT,
      Math.min(Math.max(wanted, Math.round(this.#count / most)), this.#count * most),
    );
  }

  /** Operations a second of one run. */
  async #timed(): Promise<number> {
    const startMs = performance.now();
    await within(RUN_MS, `${this.#count} operations of ${order.contender}`, this.#session.run(this.#count));
    return (this.#count * 1_000) / (performance.now() - startMs);
  }

  async close(): Promise<AnswerTo<'closed'>> {
    const peak = peakBytes();
    await within(CLOSE_MS, `closing ${order.contender}`, this.#session.close());
    return { answer: 'closed', peakBytes: peak };
  }
}

let lane: Lane | undefined;

async function contenderOf(): Promise<Contender> {
  const { measurements = [], entrants = [] } = await loadPlugin(new URL(order.plugin));
  const own = measurements.flatMap((one) =>
    one.kind === 'race' && one.name === order.race ? one.contenders : [],
  );
  const entered = entrants.flatMap(({ race, contender }) => (race === order.race ? [contender] : []));
  const contender = [...own, ...entered].find(({ name }) => name === order.contender);
  if (contender === undefined) throw new Error(`${order.plugin} has no ${order.contender}`);
  return contender;
}

async function open(): Promise<AnswerTo<'opened'>> {
  const contender = await contenderOf();
  const startBytes = residentBytes();
  lane = new Lane(await within(order.openMs, `opening ${order.contender}`, contender.open()));
  await lane.warmUp();
  return { answer: 'opened', startBytes, bytes: residentBytes() };
}

async function answerTo(turn: Turn): Promise<TurnAnswer> {
  if (turn === 'open') return open();
  if (lane === undefined) throw new Error('It was not opened');
  return turn === 'run' ? lane.run() : lane.close();
}

function failureOf(error: unknown): AnswerTo<'failed'> {
  const reason = error instanceof Error ? error.message : String(error);
  return { answer: 'failed', reason, isUnavailable: error instanceof Unavailable };
}

process.on('message', async (message) => {
  const answer = await answerTo(Turn.parse(message)).catch(failureOf);
  const isOver = answer.answer === 'closed' || answer.answer === 'failed';
  // What a contender has left behind must not keep it: the process ends with its last answer.
  process.send?.(answer, () => isOver && process.exit(0));
});

// Whoever ordered it is gone.
process.on('disconnect', () => process.exit(1));
