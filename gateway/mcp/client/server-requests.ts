import type {
  Client,
  ClientCapabilities,
  CreateMessageRequest,
  CreateMessageResult,
  ElicitRequest,
  ElicitResult,
} from '@modelcontextprotocol/client';
import type { Silence } from './silence.ts';

/** Answers an elicitation of the server, for example by asking the user. `{ action: 'decline' }` refuses. */
export type AskPerson = (
  params: ElicitRequest['params'],
  context: { readonly signal: AbortSignal },
) => ElicitResult | Promise<ElicitResult>;

/** Answers a sampling request of the server, with a model's message. */
export type AskModel = (
  params: CreateMessageRequest['params'],
  context: { readonly signal: AbortSignal },
) => CreateMessageResult | Promise<CreateMessageResult>;

/** A folder or file that the server may work in. `uri` is a `file:` URI. */
export interface Root {
  readonly uri: string;
  readonly name?: string;
}

export interface ServerRequests {
  readonly elicit?: AskPerson | undefined;
  readonly sample?: AskModel | undefined;
  readonly roots?: (() => readonly Root[] | Promise<readonly Root[]>) | undefined;
}

/** The capabilities that the server is told: those that have a function here. */
export function clientCapabilities({ elicit, sample, roots }: ServerRequests): ClientCapabilities {
  return {
    ...(elicit === undefined ? {} : { elicitation: { form: { applyDefaults: true }, url: {} } }),
    ...(sample === undefined ? {} : { sampling: {} }),
    ...(roots === undefined ? {} : { roots: {} }),
  };
}

/**
 * Registers the functions that answer the server's requests. They also answer the `inputRequests` of 2026-07-28. Their time
 * does not count as the server's silence.
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
