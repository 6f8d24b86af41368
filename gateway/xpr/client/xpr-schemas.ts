import { z } from 'zod';

/**
 * Free data of a message, task or artifact. All schemas here are of XPR's protocol (seed 2); fields that they do not name are
 * preserved.
 */

const Metadata = z.record(z.string(), z.json());

/** A part of a message or artifact: text, a file as `uri` or base64 `bytes`, or JSON. */
export const A2APart = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('text'), text: z.string() }),
  z.looseObject({
    type: z.literal('file'),
    file: z.looseObject({
      name: z.string().optional(),
      mimeType: z.string().optional(),
      uri: z.string().optional(),
      bytes: z.string().optional(),
    }),
  }),
  z.looseObject({ type: z.literal('data'), data: Metadata }),
]);
export type A2APart = z.infer<typeof A2APart>;

/** A message of XPR's protocol. */
export const A2AMessage = z.looseObject({
  role: z.enum(['user', 'agent']),
  parts: z.array(A2APart).min(1),
});
export type A2AMessage = z.infer<typeof A2AMessage>;

/** The states of a task in XPR's protocol. */
export const A2ATaskState = z.enum([
  'submitted',
  'working',
  'input-required',
  'completed',
  'failed',
  'canceled',
]);
export type A2ATaskState = z.infer<typeof A2ATaskState>;

/** An artifact of a task. `index` is its position among the artifacts. */
export const A2AArtifact = z.looseObject({
  name: z.string().optional(),
  description: z.string().optional(),
  parts: z.array(A2APart),
  index: z.int().nonnegative(),
});
export type A2AArtifact = z.infer<typeof A2AArtifact>;

/** A task of XPR's protocol. `timestamp` is in ISO 8601. */
export const A2ATask = z.looseObject({
  id: z.string().min(1),
  contextId: z.string().optional(),
  status: z.looseObject({
    state: A2ATaskState,
    message: A2AMessage.optional(),
    timestamp: z.string().optional(),
  }),
  artifacts: z.array(A2AArtifact).optional(),
  history: z.array(A2AMessage).optional(),
  metadata: Metadata.optional(),
});
export type A2ATask = z.infer<typeof A2ATask>;

/**
 * An agent's card with XPR's fields. `xpr:registeredAt` is in Unix seconds, `xpr:trustScore` 0 to 100, `xpr:kycLevel` 0 to 3.
 */
export const XprAgentCard = z.looseObject({
  name: z.string(),
  description: z.string().default(''),
  url: z.string(),
  version: z.string().default(''),
  capabilities: z
    .looseObject({
      streaming: z.boolean().optional(),
      pushNotifications: z.boolean().optional(),
      stateTransitionHistory: z.boolean().optional(),
    })
    .default({}),
  defaultInputModes: z.array(z.string()).default([]),
  defaultOutputModes: z.array(z.string()).default([]),
  skills: z
    .array(
      z.looseObject({
        id: z.string(),
        name: z.string(),
        description: z.string().default(''),
        tags: z.array(z.string()).default([]),
      }),
    )
    .default([]),
  'xpr:account': z.string().optional(),
  'xpr:protocol': z.string().optional(),
  'xpr:trustScore': z.number().optional(),
  'xpr:kycLevel': z.number().optional(),
  'xpr:registeredAt': z.number().optional(),
  'xpr:owner': z.string().optional(),
});
export type XprAgentCard = z.infer<typeof XprAgentCard>;

/** An answer of JSON-RPC, with `result` or `error`. */
export const RpcAnswer = z.looseObject({
  jsonrpc: z.literal('2.0'),
  id: z.union([z.string(), z.number(), z.null()]),
  result: z.unknown().optional(),
  error: z
    .looseObject({ code: z.int(), message: z.string().default(''), data: z.unknown().optional() })
    .optional(),
});
export type RpcAnswer = z.infer<typeof RpcAnswer>;
