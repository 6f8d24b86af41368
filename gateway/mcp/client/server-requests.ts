import type {
  Client,
  ClientCapabilities,
  CreateMessageRequest,
  CreateMessageResult,
  ElicitRequest,
  ElicitResult,
} from '@modelcontextprotocol/client';
import type { Silence } from './silence.ts';

/** Asks whoever is in charge what the server wants to know; `action: 'decline'` is an answer. */
export type AskPerson = (
  params: ElicitRequest['params'],
  context: { readonly signal: AbortSignal },
) => ElicitResult | Promise<ElicitResult>;

/** Has a model say what the server wants said. */
export type AskModel = (
  params: CreateMessageRequest['params'],
  context: { readonly signal: AbortSignal },
) => CreateMessageResult | Promise<CreateMessageResult>;

/** A place that the server may work in: a `file:` URI. */
export interface Root {
  readonly uri: string;
  readonly name?: string;
}

export interface ServerRequests {
  readonly elicit?: AskPerson | undefined;
  readonly sample?: AskModel | undefined;
  readonly roots?: (() => readonly Root[] | Promise<readonly Root[]>) | undefined;
}

/** What a server is told that it may ask for: only what somebody answers. */
export function clientCapabilities({ elicit, sample, roots }: ServerRequests): ClientCapabilities {
  return {
    ...(elicit === undefined ? {} : { elicitation: { form: { applyDefaults: true }, url: {} } }),
    ...(sample === undefined ? {} : { sampling: {} }),
    ...(roots === undefined ? {} : { roots: {} }),
  };
}

/**
 * Has what the server asks for answered; the same ones answer what a modern server puts into its results. `silence`: of whom it
 * is waited for meanwhile.
 */
export function answerServer(
  client: Client,
  { elicit, sample, roots }: ServerRequests,
  silence: Pick<Silence, 'whileAnswering'>,
): void {
  if (elicit !== undefined)
    client.setRequestHandler('elicitation/create', ({ params }, { mcpReq }) =>
      silence.whileAnswering(() => elicit(params, { signal: mcpReq.signal })),
    );
  if (sample !== undefined)
    client.setRequestHandler('sampling/createMessage', ({ params }, { mcpReq }) =>
      silence.whileAnswering(() => sample(params, { signal: mcpReq.signal })),
    );
  if (roots !== undefined)
    client.setRequestHandler('roots/list', async () => {
      const given = await silence.whileAnswering(roots);
      return { roots: given.map(({ uri, name }) => ({ uri, ...(name === undefined ? {} : { name }) })) };
    });
}
