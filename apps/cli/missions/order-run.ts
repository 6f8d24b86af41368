import { userInfo } from 'node:os';
import { askAt, isNobody } from '../order-socket.ts';
import { UsageError } from '../usage-error.ts';
import { type MissionOrder, OrderAnswer } from './mission-order.ts';
import { MissionTally } from './mission-tally.ts';
import { foreignSocket, ordersSockets } from './orders-place.ts';
import type { RunRecord } from './run-record.ts';

/** The process of a run lives, and does not answer. */
export class NotAnswered extends Error {
  readonly code = 'NOT_ANSWERED';
}

/** Gives an order to the process of a run; resolves to what has come of it. Rejects with UsageError or NotAnswered. */
export async function orderRun(record: RunRecord, order: MissionOrder): Promise<string> {
  const { data } = OrderAnswer.safeParse(await ask(record, order));
  if (data === undefined) throw notAnswered(record, 'what it answers is no answer');
  return data.said;
}

/** How the mission is. Rejects with NotAnswered. */
export async function stateOf(record: RunRecord): Promise<MissionTally> {
  const { data } = MissionTally.safeParse(await ask(record, { type: 'state' }));
  if (data === undefined) throw notAnswered(record, 'what it answers is no state');
  return data;
}

const MAX_NAME = 64;

/** Who gives orders: the user's name, if the system has one. */
export function whoOrders(): string {
  try {
    return userInfo().username.trim().slice(0, MAX_NAME) || 'somebody';
  } catch {
    return 'somebody';
  }
}

async function ask(record: RunRecord, { type, ...given }: MissionOrder): Promise<unknown> {
  for (const path of ordersSockets(record, process.env)) {
    try {
      const foreign = foreignSocket(path);
      if (foreign !== undefined) throw new Error(foreign);
      return await askAt(path, type, given);
    } catch (error) {
      if (isNobody(error)) continue;
      throw error instanceof UsageError ? error : notAnswered(record, (error as Error).message);
    }
  }
  throw notAnswered(record, 'it listens nowhere');
}

const notAnswered = ({ mission, process: { pid } }: RunRecord, why: string): NotAnswered =>
  new NotAnswered(`The process ${pid} of "${mission}" does not answer: ${why}`);
