import { errorWithStack, notHere } from '../protocol/errors.ts';
import { changeCell, type NextCode, resumeCell } from '../cell/cell-lives.ts';
import type { ChangeOrder, NodeReport } from './control-protocol.ts';
import type { ThreadNode } from './thread-node.ts';

/** Has an agent of the place run other code; resolves to what the control thread is to be told of it. */
export async function changeCode(
  node: ThreadNode,
  { ref, slot, module, resumed, graceMs, isFresh }: ChangeOrder,
  codeOf: () => NextCode | Promise<NextCode>,
): Promise<NodeReport> {
  try {
    const cell = node.cellOf(slot);
    if (cell === undefined) throw notHere(module, node.id);
    const next = await codeOf();
    const changed = await (resumed === undefined
      ? changeCell(cell, next, { graceMs, isFresh })
      : resumeCell(cell, next, resumed.snapshot));
    return { t: 'changed', ref, changed, error: undefined };
  } catch (error) {
    return {
      t: 'changed',
      ref,
      changed: undefined,
      error: errorWithStack(error, { fallbackCode: 'MODULE_INVALID' }),
    };
  }
}

/** Has agents wait with what they hold, which the control thread keeps, for code that can go on with it. */
export function parkAgents(node: ThreadNode, slots: readonly number[]): void {
  for (const slot of slots) {
    node.cellOf(slot)?.park();
  }
}
