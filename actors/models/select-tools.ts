import type { Tool } from '../../runtime/protocol/tool.ts';

/** Which tools a model may call: by full name, `agent.*` for all whose full names begin so, `*` for all; or whichever this says. */
export type ToolChoice = readonly string[] | ((tool: Tool) => boolean);

/** Those of `tools` that are chosen, none of them the agent's own. */
export function selectTools(tools: readonly Tool[], choice: ToolChoice, self: string): readonly Tool[] {
  const isChosen = typeof choice === 'function' ? choice : (tool: Tool) => choice.some(names(tool));
  return tools.filter((tool) => tool.agentId !== self && isChosen(tool));
}

/**
 * Names that stand for nothing: of no tool that there is, or with `.*` of no tool and of none of the agents that there are,
 * which may have no tools now.
 */
export function namesMissing(
  tools: readonly Tool[],
  choice: ToolChoice,
  agentIds: readonly string[],
): readonly string[] {
  if (typeof choice === 'function') return [];
  const isKnown = (name: string): boolean =>
    name === '*' || tools.some((tool) => names(tool)(name)) || agentIds.some((id) => name === `${id}.*`);
  return choice.filter((name) => !isKnown(name));
}

const names =
  (tool: Tool) =>
  (name: string): boolean =>
    name === '*' || name === tool.name || (name.endsWith('.*') && tool.name.startsWith(name.slice(0, -1)));
