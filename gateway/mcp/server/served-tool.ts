import type { Tool } from '../../../runtime/protocol/tool.ts';
import {
  INPUT_FIELD,
  inputSchemaOf,
  isObjectSchema,
  RESULT_FIELD,
  schemaOfField,
  takesObject,
} from '../../team/object-schema.ts';
import type { TaskMode } from './mcp-options.ts';
import { type ParamHeader, paramHeadersOf } from './param-headers.ts';

/**
 * A tool as clients see it, under `name`.
 *
 * - `modern`, `legacy` its entry in lists, since 2026-07-28 and before.
 * - `wrapsResult`      the structured result holds the output in a property.
 * - `paramHeaders`     arguments that clients repeat in headers.
 * - `inputOf`          reads the tool's input from the arguments of a call.
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

/** The key in `_meta` for the id of the agent that has the tool. */
const META_AGENT = 'io.orrery/agentId';

const SUPPORT: Readonly<Record<TaskMode, string>> = {
  never: 'forbidden',
  asked: 'optional',
  preferred: 'optional',
  always: 'required',
  answered: 'required',
};

/** Describes a tool for clients, with schemas that MCP allows. `mode`: which of its calls become tasks. */
export function servedTool(tool: Tool, name: string, mode: TaskMode): ServedTool {
  const inputSchema = inputSchemaOf(tool.inputSchema);
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
    inputOf: takesObject(tool.inputSchema) ? (args) => args : (args) => args[INPUT_FIELD],
  };
}

function outputSchemaOf(tool: Tool, wrapsResult: boolean): { readonly outputSchema?: unknown } {
  if (tool.isContent) return {};
  if (!wrapsResult) return { outputSchema: tool.outputSchema };
  const whole = tool.streams ? listSchemaOf(tool.outputSchema) : tool.outputSchema;
  const outputSchema = schemaOfField(RESULT_FIELD, whole);
  return outputSchema === undefined ? {} : { outputSchema };
}

/** The schema of a list of items of a schema. */
function listSchemaOf(schema: unknown): unknown {
  const { $schema, $defs, ...items } = (schema ?? {}) as Record<string, unknown>;
  return {
    type: 'array',
    items,
    ...($schema === undefined ? {} : { $schema }),
    ...($defs === undefined ? {} : { $defs }),
  };
}

/** All annotations of MCP. Those that a capability leaves out get MCP's defaults: it may destroy, and has an open world. */
const annotationsOf = ({ annotations, title }: Tool) => ({
  title,
  readOnlyHint: annotations.readOnly ?? false,
  destructiveHint: annotations.destructive ?? annotations.readOnly !== true,
  idempotentHint: annotations.idempotent ?? false,
  openWorldHint: annotations.openWorld ?? true,
});
