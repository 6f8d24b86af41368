import type { Tool } from '../../runtime/protocol/tool.ts';

/** Which tools a model may call: by full name, `agent.*` for all whose full names begin so, `*` for all; or whichever this says. */
export type ToolChoice = readonly string[] | ((tool: Tool) => boolean);

/** Those of `tools` that are chosen, none of them the agent's own. */
export function selectTools(tools: readonly Tool[], choice: ToolChoice, self: string): readonly Tool[] {
  const isChosen = typeof choice === 'function' ? choice : (tool: Tool) => choice.some(names(tool));
  return tools.filter((tool) => tool.agentId !== self && isChosen(tool));
}

/** Names, no patterns, that stand for nothing now. */
export const namesMissing = (tools: readonly Tool[], choice: ToolChoice): readonly string[] =>
  typeof choice === 'function'
    ? []
    : choice.filter((name) => !name.endsWith('*') && !tools.some((tool) => tool.name === name));

const names =
  (tool: Tool) =>
  (name: string): boolean =>
    name === '*' || name === tool.name || (name.endsWith('.*') && tool.name.startsWith(name.slice(0, -1)));
