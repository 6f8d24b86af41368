export { type CountTokens, estimateTokens } from './count-tokens.ts';
export { modelAgent } from './model-agent.ts';
export type { ModelAgentOptions, ModelLimits } from './model-agent-options.ts';
export { answer, answerStream, type ModelCapability } from './model-capability.ts';
export type { ModelEndpoint, ModelObject } from './model-endpoint.ts';
export { ModelReply, ModelToolCall, ModelUsage } from './model-reply.ts';
export type { ModelSettings } from './model-agent-options.ts';
export type { Prices } from './prices.ts';
export type { ToolChoice } from './select-tools.ts';
