import { ToolNames } from '../../../runtime/protocol/tool-names.ts';
import type { ParsedMcpOptions } from './mcp-options.ts';

/** A tool or prompt under its full name, and whose it is. */
interface Named {
  readonly name: string;
  readonly agentId: string;
}

/**
 * What these are called at the edge, each by another name: who comes second to a name keeps the full one. `names` as in
 * `McpOptions`.
 */
export function edgeNames<Item extends Named>(
  items: readonly Item[],
  names: ParsedMcpOptions['names'],
): readonly string[] {
  if (names === 'agent.tool') return items.map(({ name }) => name);
  if (names === 'portable') {
    const portable = new ToolNames(items);
    return items.map((item) => portable.portable(item));
  }
  const taken = new Set<string>();
  const full = new Set(items.map(({ name }) => name));
  return items.map(({ name, agentId }) => {
    const wanted = names({ agentId, id: name.slice(agentId.length + 1) });
    // A full name is its owner's, who may need it.
    const free = taken.has(wanted) || full.has(wanted) ? name : wanted;
    taken.add(free);
    return free;
  });
}
