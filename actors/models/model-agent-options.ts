import { z } from 'zod';
import type { Capability } from '../../runtime/protocol/capability.ts';
import { invalidOptions } from '../../runtime/protocol/errors.ts';
import { parseOptions, requireFunction } from '../../runtime/protocol/parse-options.ts';
import type { AgentOptions } from '../../runtime/public.ts';
import { type CountTokens, estimateTokens } from './count-tokens.ts';
import { DEFAULT_CAPABILITIES, type ModelCapability, type ModelTask, modelTask } from './model-capability.ts';
import {
  isModelObject,
  ModelEndpoint,
  type ModelObject,
  type OpenedModel,
  openModel,
} from './model-endpoint.ts';
import { ModelMemory } from './model-memory.ts';
import { Prices } from './prices.ts';
import type { ToolChoice } from './select-tools.ts';
import type { LanguageModelCallOptions } from 'ai';
import { JsonFields } from '../../runtime/protocol/json-value.ts';

const Count = z.int().positive().max(1e6);

/**
 * What bounds the work on one envelope.
 *
 * - `maxSteps`           calls of the model until it is asked for the last time. @default 8
 * - `maxOutputTokens`    of one answer of the model. @default 2_048
 * - `maxContextTokens`   of one call, by estimate, its answer included; what was said is shortened to that. @default 32_000
 * - `maxToolResultChars` of a tool's answer that the model reads. @default 16_000
 * - `maxToolCalls`       of one reply that are made. @default 16
 * - `maxParallelTools`   of those under way at a time. @default 4
 * - `answerAttempts`     how often it may answer what does not fit, before it is REFUSED. @default 3
 * - `lastOutputTokens`   of the last answer, at a limit. @default 1_024
 * - `lastCallMs`         kept for the last call before the deadline, at most a quarter of the time there is. @default 15_000
 * - `attempts`           how often one call is tried, its first attempt included. @default 4
 * - `mayBillTwice`       a call is tried again also when the provider may charge for the first attempt. @default false
 */
export const ModelLimits = z.strictObject({
  maxSteps: Count.default(8),
  maxOutputTokens: Count.min(16).default(2_048),
  maxContextTokens: z.int().min(1_000).max(1e8).default(32_000),
  maxToolResultChars: z.int().min(200).max(1e7).default(16_000),
  maxToolCalls: Count.default(16),
  maxParallelTools: Count.default(4),
  answerAttempts: Count.default(3),
  lastOutputTokens: Count.min(16).default(1_024),
  lastCallMs: z.number().nonnegative().max(1e9).default(15_000),
  attempts: Count.default(4),
  mayBillTwice: z.boolean().default(false),
});
export type ModelLimits = z.input<typeof ModelLimits>;

/**
 * An agent that thinks with a model.
 *
 * - `model`        an endpoint, or a model object of the SDK.
 * - `instructions` what the model is told before anything else.
 * - `capabilities` what the agent can be asked for. @default `answer` and `answer.stream`: `{ prompt }` in, text out
 * - `tools`        which tools the model may call: by full name, `agent.*`, `*`, or a function of the tool. @default none
 * - `memory`       whether the model is told what is remembered, and what of it; `true` is all defaults of `ModelMemory`. @default false
 * - `prices`       of the model, in dollars; without them it takes no work whose dollars are limited.
 * - `countTokens`  estimates how many tokens a text is. @default see `estimateTokens`
 * - `settings`     how the model is sampled.
 * - `streams`      whether the model is asked to stream its text. @default true
 *
 * Everything else is as in `AgentOptions`, with a version, a description and a tier unless they are given: 1.0.0, one made
 * of the name, 3. `handlingTimeoutMs` is 120_000 where nothing is said.
 */
export interface ModelAgentOptions
  extends Omit<AgentOptions, 'version' | 'description' | 'tier'>,
    Partial<Pick<AgentOptions, 'version' | 'description' | 'tier'>> {
  readonly model: ModelEndpoint | ModelObject;
  readonly instructions: string;
  readonly capabilities?: readonly (ModelCapability | Capability)[];
  readonly tools?: ToolChoice;
  readonly memory?: boolean | ModelMemory;
  readonly prices?: Prices;
  readonly countTokens?: CountTokens;
  readonly limits?: ModelLimits;
  readonly settings?: ModelSettings;
  readonly streams?: boolean;
}

/** The options that one handling needs. */
export interface ModelLoopSettings {
  readonly model: OpenedModel;
  readonly instructions: string;
  readonly tools: ToolChoice | undefined;
  readonly memory: z.output<typeof ModelMemory> | undefined;
  readonly prices: Prices | undefined;
  readonly countTokens: CountTokens;
  readonly limits: z.output<typeof ModelLimits>;
  readonly settings: ModelSettings;
  readonly streams: boolean;
  readonly handlingTimeoutMs: number;
}

export interface ReadOptions {
  readonly identity: AgentOptions;
  readonly settings: ModelLoopSettings;
  readonly tasks: readonly ModelTask[];
}

const HANDLING_TIMEOUT_MS = 120_000;
const ROOT = 'modelAgent';

/** Throws INVALID_OPTIONS naming the first field at fault and its value. */
export function readOptions(options: ModelAgentOptions): ReadOptions {
  if (typeof options !== 'object' || options === null) throw invalidOptions(ROOT, options, 'options');
  const {
    model,
    instructions,
    capabilities,
    tools,
    memory,
    prices,
    countTokens,
    limits,
    settings,
    streams,
    ...agent
  } = options;
  if (typeof instructions !== 'string') throw invalidOptions(`${ROOT}.instructions`, instructions, 'a text');
  if (countTokens !== undefined) requireFunction(`${ROOT}.countTokens`, countTokens);
  const { name } = agent;
  const handlingTimeoutMs = agent.handlingTimeoutMs ?? HANDLING_TIMEOUT_MS;
  return {
    identity: {
      version: '1.0.0',
      description: `${String(name)}, who thinks with a model`,
      tier: 3,
      ...agent,
      ...(capabilities === undefined && agent.defaultCapability === undefined
        ? { defaultCapability: 'answer.stream' }
        : {}),
      handlingTimeoutMs,
    },
    settings: {
      model: openedModel(model),
      instructions,
      tools: toolChoice(tools),
      memory: memoryOf(memory),
      prices: prices === undefined ? undefined : parseOptions(Prices, prices, `${ROOT}.prices`),
      countTokens: countTokens ?? estimateTokens,
      limits: parseOptions(ModelLimits, limits ?? {}, `${ROOT}.limits`),
      settings: parseOptions(ModelSettings, settings ?? {}, `${ROOT}.settings`),
      streams: parseOptions(z.boolean(), streams ?? true, `${ROOT}.streams`),
      handlingTimeoutMs,
    },
    tasks: tasksOf(capabilities),
  };
}

const openedModel = (model: unknown): OpenedModel =>
  openModel(isModelObject(model) ? model : parseOptions(ModelEndpoint, model, `${ROOT}.model`));

function tasksOf(capabilities: ModelAgentOptions['capabilities'] = DEFAULT_CAPABILITIES): ModelTask[] {
  if (!Array.isArray(capabilities) || capabilities.length === 0)
    throw invalidOptions(`${ROOT}.capabilities`, capabilities, 'a list of at least one capability');
  return capabilities.map(modelTask);
}

function memoryOf(memory: ModelAgentOptions['memory'] = false): z.output<typeof ModelMemory> | undefined {
  if (memory === false) return undefined;
  return parseOptions(ModelMemory, memory === true ? {} : memory, `${ROOT}.memory`);
}

/** Refuses names that no tool can have. A tool that is not there yet may come later. */
const ToolNames = z.array(z.string().regex(/^(\*|[^*]+\.\*|[^*]+\.[^*]+)$/, 'a full name, agent.*, or *'));

function toolChoice(tools: unknown): ToolChoice | undefined {
  if (tools === undefined || typeof tools === 'function') return tools as ToolChoice | undefined;
  return parseOptions(ToolNames, tools, `${ROOT}.tools`);
}

/** How the model is sampled; what is left out is up to the provider. `providerOptions` as the SDK's provider has them. */
export const ModelSettings = z.strictObject({
  temperature: z.number().nonnegative().exactOptional(),
  topP: z.number().min(0).max(1).exactOptional(),
  presencePenalty: z.number().exactOptional(),
  frequencyPenalty: z.number().exactOptional(),
  stopSequences: z.array(z.string()).exactOptional(),
  seed: z.int().exactOptional(),
  providerOptions: z.record(z.string(), JsonFields).exactOptional(),
}) satisfies z.ZodType<Partial<LanguageModelCallOptions>>;
export type ModelSettings = z.infer<typeof ModelSettings>;
