import type { z } from 'zod';
import type { AgentTier } from '../../runtime/protocol/agent-card.ts';
import type { Budget } from '../../runtime/protocol/budget.ts';
import type { Taint } from '../../runtime/protocol/taint.ts';
import type { ToolAnnotations } from '../../runtime/protocol/tool.ts';

/**
 * A tool as it is registered: under `agentId.name`. `name` is dotted, such as `types.check`; the schemas are zod's, and JSON
 * can carry what they describe.
 */
export interface ToolRegistration<Input = unknown, Output = unknown, Parsed = Input, Given = Output> {
  readonly agentId: string;
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  readonly inputSchema: z.ZodType<Parsed, Input>;
  readonly outputSchema: z.ZodType<Output, Given>;
  readonly annotations?: ToolAnnotations;
}

/**
 * What a tool, a loader or a prompt is given beside its input.
 *
 * - `signal`       aborts when nobody wants the answer any more.
 * - `as`           who calls, if whoever calls says so.
 * - `deadlineAtMs` until when the answer is wanted, Unix milliseconds.
 * - `budget`       what the caller says may be spent; nobody counts it here.
 */
export interface ToolContext {
  readonly agentId: string;
  readonly signal: AbortSignal;
  readonly as?: { readonly id: string; readonly tier: AgentTier; readonly tenant?: string | undefined };
  readonly deadlineAtMs: number;
  readonly budget?: Budget;
  readonly taint?: Taint;
  readonly metadata?: Readonly<Record<string, unknown>>;
  progress(fraction: number, note?: string): void;
  report(what: unknown): void;
}
