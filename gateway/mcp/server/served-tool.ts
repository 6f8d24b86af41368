import type { Tool } from '../../../runtime/protocol/tool.ts';
import { isAnySchema, isObjectSchema, schemaOfField } from './json-shapes.ts';
import type { TaskMode } from './mcp-options.ts';
import { type ParamHeader, paramHeadersOf } from './param-headers.ts';

/** The field that stands for a whole input or output where MCP wants an object. */
const INPUT_FIELD = 'input';
const RESULT_FIELD = 'result';

/**
 * A tool as it is served: under `name`, and how its arguments and its output are said in MCP.
 *
 * - `modern`, `legacy` as lists have it, since 2026-07-28 and before.
 * - `wrapsResult`      its output stands in a field of the structured result.
 * - `paramHeaders`     arguments that are said in headers as well.
 */
export interface ServedTool {
  readonly name: string;
  readonly tool: Tool;
  readonly mode: TaskMode;
  readonly modern: Readonly<Record<string, unknown>>;
  readonly legacy: Readonly<Record<string, unknown>>;
  readonly wrapsResult: boolean;
  readonly paramHeaders: readonly ParamHeader[];
  inputOf(args: Readonly<Record<string, unknown>>): unknown;
}

/** `agent` in `_meta` says whose a tool is. */
const META_AGENT = 'io.orrery/agentId';

const SUPPORT: Readonly<Record<TaskMode, string>> = {
  never: 'forbidden',
  asked: 'optional',
  preferred: 'optional',
  always: 'required',
  answered: 'required',
};

/** `mode`: whether its calls are tasks. */
export function servedTool(tool: Tool, name: string, mode: TaskMode): ServedTool {
  const takesObject = isObjectSchema(tool.inputSchema) || isAnySchema(tool.inputSchema);
  const inputSchema = takesObject
    ? isObjectSchema(tool.inputSchema)
      ? tool.inputSchema
      : { type: 'object' }
    : (schemaOfField(INPUT_FIELD, tool.inputSchema) ?? { type: 'object', required: [INPUT_FIELD] });
  const wrapsResult = tool.streams || !isObjectSchema(tool.outputSchema);
  const modern = {
    name,
    title: tool.title,
    description: tool.description,
    inputSchema,
    ...outputSchemaOf(tool, wrapsResult),
    annotations: annotationsOf(tool),
    _meta: { [META_AGENT]: tool.agentId },
  };
  return {
    name,
    tool,
    mode,
    modern,
    legacy: { ...modern, execution: { taskSupport: SUPPORT[mode] } },
    wrapsResult,
    paramHeaders: paramHeadersOf(inputSchema),
    inputOf: takesObject ? (args) => args : (args) => args[INPUT_FIELD],
  };
}

function outputSchemaOf(tool: Tool, wrapsResult: boolean): { readonly outputSchema?: unknown } {
  if (tool.isContent) return {};
  if (!wrapsResult) return { outputSchema: tool.outputSchema };
  const whole = tool.streams ? listSchemaOf(tool.outputSchema) : tool.outputSchema;
  const outputSchema = schemaOfField(RESULT_FIELD, whole);
  return outputSchema === undefined ? {} : { outputSchema };
}

/** That of a list of these, unless it is one of a list already. */
function listSchemaOf(schema: unknown): unknown {
  const { $schema, $defs, ...items } = (schema ?? {}) as Record<string, unknown>;
  return {
    type: 'array',
    items,
    ...($schema === undefined ? {} : { $schema }),
    ...($defs === undefined ? {} : { $defs }),
  };
}

/** All of them. What a capability does not say is what MCP takes for granted: that it may destroy, and reaches beyond. */
const annotationsOf = ({ annotations, title }: Tool) => ({
  title,
  readOnlyHint: annotations.readOnly ?? false,
  destructiveHint: annotations.destructive ?? annotations.readOnly !== true,
  idempotentHint: annotations.idempotent ?? false,
  openWorldHint: annotations.openWorld ?? true,
});
