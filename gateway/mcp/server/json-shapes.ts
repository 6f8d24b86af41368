/** A result of MCP, as JSON. */
export type Result = Record<string, unknown>;
