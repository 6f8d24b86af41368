import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import type { LanguageModel } from 'ai';
import { z } from 'zod';
import { invalidOptions } from '../../runtime/protocol/errors.ts';

/**
 * A model behind an endpoint in the shape of OpenAI's chat completions.
 *
 * - `baseUrl`   what stands before `/chat/completions`, such as `http://127.0.0.1:8080/v1`.
 * - `model`     its name there.
 * - `apiKey`    sent as a bearer token; `apiKeyEnv` names an environment variable that holds it, read when the agent is
 *               defined. @default none is sent, and no variable is read
 * - `headers`   sent along.
 * - `schemas`   the endpoint takes a JSON Schema of the answer (`response_format`). @default false
 */
export const ModelEndpoint = z
  .strictObject({
    baseUrl: z.url({ protocol: /^https?$/ }),
    model: z.string().min(1),
    apiKey: z.string().min(1).optional(),
    apiKeyEnv: z.string().min(1).optional(),
    headers: z.record(z.string(), z.string()).optional(),
    schemas: z.boolean().optional(),
  })
  .refine(({ apiKey, apiKeyEnv }) => apiKey === undefined || apiKeyEnv === undefined, {
    error: 'apiKey or apiKeyEnv, not both',
    path: ['apiKeyEnv'],
  });
export type ModelEndpoint = z.infer<typeof ModelEndpoint>;

/** A model of the SDK, no name of one: a name would be looked up at its vendor's gateway. */
export type ModelObject = Exclude<LanguageModel, string>;

/** A model that is asked: `name` for events and errors, `secret` never to be in any; it may take a JSON Schema of its answer. */
export interface OpenedModel {
  readonly model: ModelObject;
  readonly name: string;
  readonly url: string;
  readonly secret: string | undefined;
  readonly holdsToSchemas: boolean;
}

/** The largest answer that is read, protocol included. */
const MAX_ANSWER_BYTES = 32 * 1024 * 1024;

/** Throws INVALID_OPTIONS naming the field for an endpoint without the key that it says it has. */
export function openModel(given: ModelEndpoint | ModelObject): OpenedModel {
  if (isModelObject(given))
    return {
      model: given,
      name: given.modelId,
      url: given.provider,
      secret: undefined,
      holdsToSchemas: false,
    };
  const { baseUrl, model, headers, schemas = false } = given;
  const apiKey = given.apiKey ?? keyIn(given.apiKeyEnv);
  const provider = createOpenAICompatible({
    name: 'model',
    baseURL: baseUrl,
    includeUsage: true,
    supportsStructuredOutputs: schemas,
    fetch: fetchAsGiven,
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(headers === undefined ? {} : { headers }),
  });
  return {
    model: provider.chatModel(model),
    name: model,
    url: baseUrl,
    secret: apiKey,
    holdsToSchemas: schemas,
  };
}

export const isModelObject = (given: unknown): given is ModelObject =>
  typeof given === 'object' &&
  given !== null &&
  'specificationVersion' in given &&
  typeof (given as { doStream?: unknown }).doStream === 'function';

function keyIn(name: string | undefined): string | undefined {
  if (name === undefined) return undefined;
  const key = process.env[name];
  if (key === undefined || key === '')
    throw invalidOptions('modelAgent.model.apiKeyEnv', name, 'an environment variable that holds a key');
  return key;
}

/** A fetch that follows no redirect. */
const fetchAsGiven: typeof fetch = async (input, init) => {
  const response = await fetch(input, { ...init, redirect: 'error' });
  if (response.body === null) return response;
  return new Response(response.body.pipeThrough(bounded(MAX_ANSWER_BYTES)), response);
};

function bounded(maxBytes: number): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  return new TransformStream({
    transform(chunk, controller) {
      bytes += chunk.byteLength;
      if (bytes > maxBytes) controller.error(new Error(`the answer is larger than ${maxBytes} bytes`));
      else controller.enqueue(chunk);
    },
  });
}
