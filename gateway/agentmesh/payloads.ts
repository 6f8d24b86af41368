import { z } from 'zod';

/** The types of AgentMesh's payloads. */
export const PAYLOAD_TYPES = ['REQUEST', 'RESPONSE', 'STATUS', 'ERROR', 'CLOSE'] as const;
export type PayloadType = (typeof PAYLOAD_TYPES)[number];

const Text = z.string().min(1);
const Fraction = z.number().min(0).max(1);
const Seconds = z.number().nonnegative();
const Anything = z.unknown().refine((value) => value !== undefined, 'a value');

/**
 * Asks for work (seed 4).
 *
 * - `intent`          what is wanted, such as `travel/flights/search`.
 * - `budget`          what it may cost.
 * - `response_format` the kind of answer, such as `json`, and the schema it should have.
 */
export const RequestPayload = z.looseObject({
  intent: Text,
  parameters: z.record(z.string(), z.unknown()),
  budget: z.looseObject({ max: z.number().nonnegative(), currency: Text }).optional(),
  response_format: z.looseObject({ type: Text, schema: Text.optional() }),
  priority: z.enum(['low', 'normal', 'high', 'urgent']).optional(),
});
export type RequestPayload = z.infer<typeof RequestPayload>;

/** Answers a request (seed 4). `schema` is the id of the schema that `results` has. */
export const ResponsePayload = z.looseObject({
  status: z.enum(['success', 'partial_success', 'error', 'pending']),
  results: Anything,
  schema: Text,
});
export type ResponsePayload = z.infer<typeof ResponsePayload>;

/** Says how far the work is (seed 4). `progress` goes from 0 to 1. */
export const StatusPayload = z.looseObject({
  status: Text,
  progress: Fraction,
  estimated_completion_seconds: Seconds,
  message: z.string(),
});
export type StatusPayload = z.infer<typeof StatusPayload>;

/** Says that something failed (seed 4). `fallback_amid` names an agent that may do it instead. */
export const ErrorPayload = z.looseObject({
  code: Text,
  message: z.string(),
  retry_after_seconds: Seconds.optional(),
  fallback_amid: Text.optional(),
});
export type ErrorPayload = z.infer<typeof ErrorPayload>;

/** Ends a session (seed 4). `reputation_feedback` rates the other side from 0 to 1; a plain number is its score. */
export const ClosePayload = z.looseObject({
  reason: Text,
  summary: z.string().optional(),
  reputation_feedback: z
    .preprocess(
      (feedback) => (typeof feedback === 'number' ? { score: feedback } : feedback),
      z.looseObject({ score: Fraction, tags: z.array(z.string()).default([]) }).optional(),
    )
    .optional(),
});
export type ClosePayload = z.infer<typeof ClosePayload>;

/** The schema of each type. */
export const PAYLOADS = {
  REQUEST: RequestPayload,
  RESPONSE: ResponsePayload,
  STATUS: StatusPayload,
  ERROR: ErrorPayload,
  CLOSE: ClosePayload,
} as const satisfies Readonly<Record<PayloadType, z.ZodType>>;

/** A payload that is as the seed has it, or what is wrong with it. */
export type PayloadReading =
  | { readonly isValid: true; readonly payload: Readonly<Record<string, unknown>> }
  | { readonly isValid: false; readonly payload: unknown; readonly issues: readonly z.core.$ZodIssue[] };

/** Reads a payload. Its fields may be spelled as `responseFormat` too; those of others stay as they are. */
export function readPayload(type: PayloadType, payload: unknown): PayloadReading {
  const respelled = inSnakeCase(payload, KNOWN[type]);
  const parsed = PAYLOADS[type].safeParse(respelled);
  return parsed.success
    ? { isValid: true, payload: parsed.data }
    : { isValid: false, payload: respelled, issues: parsed.error.issues };
}

/** By the other spelling of each field its own one. */
const KNOWN = Object.fromEntries(
  PAYLOAD_TYPES.map((type) => [type, otherSpellings(Object.keys(PAYLOADS[type].shape))]),
) as Readonly<Record<PayloadType, ReadonlyMap<string, string>>>;

/** `response_format` by `responseFormat`, of those fields that have two spellings. */
export function otherSpellings(fields: readonly string[]): ReadonlyMap<string, string> {
  const camel = (name: string): string => name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
  return new Map(fields.filter((name) => name.includes('_')).map((name) => [camel(name), name]));
}

/** Gives the fields their own spelling. Where both are there, the own one counts. */
export function inSnakeCase(value: unknown, spellings: ReadonlyMap<string, string>): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const entries = Object.entries(value).filter(([name]) => {
    const own = spellings.get(name);
    return own === undefined || !Object.hasOwn(value, own);
  });
  return Object.fromEntries(entries.map(([name, inner]) => [spellings.get(name) ?? name, inner]));
}
