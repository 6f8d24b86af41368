import { type ChildProcess, spawn } from 'node:child_process';
import { type ChildProgram, nodeCommand, reasonIn } from '../child-process.ts';
import { Unavailable } from '../measurement.ts';
import { within } from '../within.ts';
import { CLOSE_MS, RUN_MS } from './contender-limits.ts';
import { MOST_WARM_UPS } from './warm-up.ts';
import { type AnswerTo, type ContenderOrder, type Turn, TurnAnswer } from './contender-protocol.ts';

/** What it may take beyond its own limits: a process that does not even notice these is ended. */
const GRACE_MS = 10_000;
const MODULE = new URL('./contender-child.ts', import.meta.url);
const LONGEST_COMPLAINT = 10_000;

/** The process of one contender. Each call fails if the contender fails, or the process ends; then it is gone. */
export class ContenderProcess {
  readonly #order: ContenderOrder;
  readonly #child: ChildProcess;
  #complaint = '';
  #onAnswer: (answer: TurnAnswer) => void = () => undefined;
  #ended: Error | undefined;
  #onEnd: (error: Error) => void = () => undefined;

  constructor(order: ContenderOrder, options: Pick<ChildProgram, 'onOneCore'>) {
    this.#order = order;
    const [command, args] = nodeCommand({ module: MODULE, args: [JSON.stringify(order)], ...options });
    this.#child = spawn(command, args, { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
    this.#child.stderr?.on('data', (chunk: Buffer) => {
      this.#complaint = (this.#complaint + chunk.toString()).slice(-LONGEST_COMPLAINT);
    });
    this.#child.on('message', (message) => this.#onAnswer(TurnAnswer.parse(message)));
    this.#child.on('error', (error: NodeJS.ErrnoException) => {
      const hasNoTaskset = options.onOneCore === true && error.code === 'ENOENT';
      this.#end(hasNoTaskset ? new Unavailable('no taskset here') : error);
    });
    this.#child.on('close', (code, signal) => {
      const reason = reasonIn(this.#complaint);
      this.#end(new Error(`its process ended with ${code ?? signal}${reason === '' ? '' : `: ${reason}`}`));
    });
  }

  /** Makes it ready, and warms it up. */
  open(): Promise<AnswerTo<'opened'>> {
    const { openMs, warmUpMs } = this.#order;
    return this.#take('open', 'opened', openMs + MOST_WARM_UPS * warmUpMs + 2 * RUN_MS);
  }

  run(): Promise<AnswerTo<'ran'>> {
    return this.#take('run', 'ran', RUN_MS);
  }

  close(): Promise<AnswerTo<'closed'>> {
    return this.#take('close', 'closed', CLOSE_MS);
  }

  #end(error: Error): void {
    this.#ended ??= error;
    this.#onEnd(this.#ended);
  }

  async #take<Name extends TurnAnswer['answer']>(
    turn: Turn,
    expected: Name,
    timeoutMs: number,
  ): Promise<AnswerTo<Name>> {
    const answered = new Promise<TurnAnswer>((resolve, reject) => {
      this.#onAnswer = resolve;
      this.#onEnd = reject;
      if (this.#ended !== undefined) reject(this.#ended);
    });
    // Of a process that is gone its end is told.
    this.#child.send(turn, () => undefined);
    try {
      const answer = await within(timeoutMs + GRACE_MS, `${turn} of ${this.#order.contender}`, answered);
      if (isNamed(answer, expected)) return answer;
      const reason = answer.answer === 'failed' ? answer.reason : `it answered ${answer.answer}`;
      throw answer.answer === 'failed' && answer.isUnavailable ? new Unavailable(reason) : new Error(reason);
    } catch (error) {
      this.#child.kill('SIGKILL');
      throw error;
    }
  }
}

const isNamed = <Name extends TurnAnswer['answer']>(
  answer: TurnAnswer,
  name: Name,
): answer is AnswerTo<Name> => answer.answer === name;
