import type { CallOptions, ToolService } from '../../runtime/protocol/tool-service.ts';

/** Calls a tool by its name: what protocols that know no more than that are given (seed 0). */
export type ToolExecutor = (name: string, params: unknown) => Promise<unknown>;

/** Calls the tools of a service, all under the same terms. */
export const toolExecutor =
  (tools: Pick<ToolService, 'call'>, options: CallOptions = {}): ToolExecutor =>
  (name, params) =>
    tools.call(name, params, options);
