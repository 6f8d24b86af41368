import type { LoopEvent, MissionControl } from '@orrery/ralph-loop';
import { OrderSocket } from '../order-socket.ts';
import { UsageError } from '../usage-error.ts';
import { MissionOrder, obey, type OrderAnswer } from './mission-order.ts';
import { type MissionTally, NO_TALLY, tallied } from './mission-tally.ts';

/**
 * - `mission`    its name.
 * - `socket`     path of the socket, in a folder of the user's.
 * - `stop`       interrupts the run, as Ctrl-C does; `by` says whose wish it is.
 * - `patienceMs` until a request that does not end is cut off. @default 10_000
 */
export interface MissionOrdersOptions {
  readonly mission: string;
  readonly socket: string;
  readonly stop: (by: string) => void;
  readonly patienceMs?: number;
}

/** Listens for orders to a mission that runs in this process, from other terminals of the same user. */
export class MissionOrders implements Disposable {
  readonly #mission: string;
  readonly #stop: (by: string) => void;
  #socket: OrderSocket | undefined;
  #tally = NO_TALLY;
  #control: MissionControl | undefined;
  #isStopping = false;

  private constructor({ mission, stop }: MissionOrdersOptions) {
    this.#mission = mission;
    this.#stop = stop;
  }

  /** Throws UsageError where it cannot listen, or another process does. */
  static async open(options: MissionOrdersOptions): Promise<MissionOrders> {
    const { mission, socket, patienceMs } = options;
    const orders = new MissionOrders(options);
    orders.#socket = await OrderSocket.open(socket, async (name, given) => orders.#answer(name, given), {
      taken: () => new UsageError(`Another process listens for orders to "${mission}" already, at ${socket}`),
      ...(patienceMs === undefined ? {} : { patienceMs }),
    });
    return orders;
  }

  /** Hears an event of the loop, for those who ask how the mission is. */
  hear(event: LoopEvent): void {
    this.#tally = tallied(this.#tally, event);
  }

  /** Gets what the mission is steered by, once it runs. */
  attach(control: MissionControl): void {
    this.#control = control;
  }

  [Symbol.dispose](): void {
    this.#socket?.[Symbol.dispose]();
  }

  #answer(name: string, given: unknown): MissionTally | OrderAnswer {
    const { data: order, error } = MissionOrder.safeParse({ ...Object(given), type: name });
    if (order === undefined) throw new UsageError(`No order "${name}": ${error.issues[0]?.message ?? ''}`);
    if (order.type === 'state') return this.#tally;
    const said = obey(order, {
      mission: this.#mission,
      tally: this.#tally,
      control: this.#control,
      stop: (by) => this.#interrupt(by),
    });
    return { said };
  }

  #interrupt(by: string): boolean {
    if (this.#isStopping) return false;
    this.#isStopping = true;
    this.#stop(by);
    return true;
  }
}
