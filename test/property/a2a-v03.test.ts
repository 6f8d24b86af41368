import { AgentCard, SendMessageRequest, StreamResponse, Task as WiredTask } from '@a2a-js/sdk';
import { legacyPushNotificationToV1StreamResponse } from '@a2a-js/sdk/compat/v0_3';
import {
  LegacyJsonRpcTransport,
  LegacyRestTransport,
  parseLegacyAgentCard,
} from '@a2a-js/sdk/compat/v0_3/client';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Artifact, Part, Task, TaskMessage } from '../../runtime/protocol/task.ts';
import type { ServedCard, StreamItem } from '../../gateway/a2a/wire/operations.ts';
import { V1 } from '../../gateway/a2a/wire/v1/dialect.ts';
import { V03, V03_REST } from '../../gateway/a2a/wire/v03/dialect.ts';
import { arbMetadata, arbStreamItem, arbTask, arbTaskId, arbTaskMessage } from './arbitraries/task.ts';
import { json, RUNS } from './dialect-trial.ts';

/** What 1.0 makes of a request, asked in its words. */
const orderIn1 = (request: object): object =>
  V1.read.send?.(SendMessageRequest.toJSON(request as SendMessageRequest)) as object;

const arbRequest = () =>
  fc
    .record(
      {
        message: arbTaskMessage(fc.constant('user' as const)),
        taskId: arbTaskId(),
        contextId: arbTaskId(),
        metadata: arbMetadata(),
        historyLength: fc.integer({ min: 1, max: 50 }),
        returnImmediately: fc.boolean(),
        modes: fc.array(fc.constantFrom('text/plain', 'application/json'), { maxLength: 2 }),
        push: fc.record(
          {
            id: arbTaskId(),
            url: fc.webUrl(),
            token: arbTaskId(),
            scheme: arbTaskId(),
            credentials: arbTaskId(),
          },
          { requiredKeys: ['url', 'scheme'], noNullPrototype: true },
        ),
      },
      { requiredKeys: ['message', 'returnImmediately', 'modes'], noNullPrototype: true },
    )
    .map(({ message, taskId, contextId, metadata, historyLength, returnImmediately, modes, push }) =>
      SendMessageRequest.fromJSON({
        message: { ...message, role: 'ROLE_USER', taskId, contextId },
        configuration: {
          acceptedOutputModes: modes,
          returnImmediately,
          historyLength,
          ...(push === undefined
            ? {}
            : {
                taskPushNotificationConfig: {
                  id: push.id,
                  url: push.url,
                  token: push.token,
                  authentication: { scheme: push.scheme, credentials: push.credentials },
                },
              }),
        },
        metadata,
      }),
    );

/** A message or part as the a2a.proto of 0.3 carries it: no names of files, no metadata of parts, no references. */
const inProtoPart = (part: Part): Part => {
  const { metadata: _, filename: __, ...rest } = part;
  return 'data' in rest && (typeof rest.data !== 'object' || Array.isArray(rest.data))
    ? { data: { value: rest.data as never } }
    : (rest as Part);
};
const inProtoMessage = ({ referenceTaskIds: _, parts, ...message }: TaskMessage): TaskMessage => ({
  ...message,
  parts: parts.map(inProtoPart),
});
/** The published reader loses an artifact's extensions as well. */
const inProtoArtifact = ({ extensions: _, parts, ...artifact }: Artifact): Artifact => ({
  ...artifact,
  parts: parts.map(inProtoPart),
});
const inProtoTask = (task: Task): Task => ({
  ...task,
  status:
    task.status.message === undefined
      ? task.status
      : { ...task.status, message: inProtoMessage(task.status.message) },
  artifacts: task.artifacts.map(inProtoArtifact),
  history: task.history.map(inProtoMessage),
});
function inProtoItem(item: StreamItem): StreamItem {
  if (item.kind === 'task') return { ...item, task: inProtoTask(item.task) };
  if (item.kind === 'message') return { ...item, message: inProtoMessage(item.message) };
  const { change } = item;
  if (change.kind === 'artifact')
    return { ...item, change: { ...change, artifact: inProtoArtifact(change.artifact) } };
  if (change.message === undefined) return item;
  return { ...item, change: { ...change, message: inProtoMessage(change.message) } };
}

/** A transport of the published client whose requests end here. */
function asked(answer: unknown = {}) {
  const requests: { readonly url: string; readonly method: string; readonly body: unknown }[] = [];
  const fetchImpl: typeof fetch = async (input, init) => {
    const body = init?.body === undefined ? undefined : (JSON.parse(String(init.body)) as unknown);
    requests.push({ url: String(input), method: init?.method ?? 'GET', body });
    return Response.json(answer);
  };
  return { requests, fetchImpl };
}

describe('A2A 0.3', () => {
  it('says of a task and its changes what 1.0 says, as the published decoder of 0.3 reads it', () => {
    fc.assert(
      fc.property(arbStreamItem(), (item) => {
        const read = legacyPushNotificationToV1StreamResponse(json(V03.writeItem(item)));
        expect(StreamResponse.toJSON(read)).toEqual(
          StreamResponse.toJSON(StreamResponse.fromJSON(V1.writeItem(item))),
        );
      }),
      RUNS,
    );
  });

  it('says final of the last change of status and of no other', () => {
    fc.assert(
      fc.property(arbStreamItem(), (item) => {
        const written = V03.writeItem(item) as { readonly kind: string; readonly final?: boolean };
        expect(written.final).toBe(written.kind === 'status-update' ? item.isLast : undefined);
      }),
      RUNS,
    );
  });

  it('reads what the published client of 0.3 asks for as what 1.0 is asked for', async () => {
    await fc.assert(
      fc.asyncProperty(arbRequest(), async (request) => {
        const { requests, fetchImpl } = asked();
        const client = new LegacyJsonRpcTransport({ endpoint: 'http://localhost/rpc', fetchImpl });
        await client.sendMessage(request).catch(() => undefined);
        const [asking] = requests.map(({ body }) => body as { readonly params: unknown });
        expect(V03.read.send?.(asking?.params)).toEqual(orderIn1(request));
      }),
      RUNS,
    );
  });

  it('reads a message whose caller waits for it only when it says so (blocking is opted into)', () => {
    const message = { role: 'user', messageId: 'm', parts: [{ kind: 'text', text: 'hello' }] };
    const waits = (configuration?: object) => !V03.read.send?.({ message, configuration }).returnImmediately;
    expect([waits(), waits({}), waits({ blocking: false }), waits({ blocking: true })]).toEqual([
      false,
      false,
      false,
      true,
    ]);
  });

  it('reads over REST what the published client of 0.3 asks for, but for what its proto has not got', async () => {
    await fc.assert(
      fc.asyncProperty(arbRequest(), async (request) => {
        const { requests, fetchImpl } = asked();
        const client = new LegacyRestTransport({ endpoint: 'http://localhost', fetchImpl });
        await client.sendMessage(request).catch(() => undefined);
        const { message, ...order } = orderIn1(request) as { readonly message: TaskMessage };
        expect(requests[0]?.url).toBe('http://localhost/v1/message:send');
        expect(V03_REST.dialect.read.send?.(requests[0]?.body)).toEqual({
          ...order,
          message: inProtoMessage(message),
        });
      }),
      RUNS,
    );
  });

  it('answers over REST what the published client of 0.3 reads as what 1.0 says', async () => {
    await fc.assert(
      fc.asyncProperty(arbTask(), async (task) => {
        const { write } = V03_REST.dialect;
        const expected = WiredTask.toJSON(WiredTask.fromJSON(V1.write.get?.(inProtoTask(task))));
        const sent = new LegacyRestTransport({
          endpoint: 'http://localhost',
          fetchImpl: asked(write.send?.({ kind: 'task', task })).fetchImpl,
        });
        const got = new LegacyRestTransport({
          endpoint: 'http://localhost',
          fetchImpl: asked(write.get?.(task)).fetchImpl,
        });
        const request = SendMessageRequest.fromJSON({
          message: { messageId: 'm', role: 'ROLE_USER', parts: [] },
        });
        expect(WiredTask.toJSON((await sent.sendMessage(request)) as WiredTask)).toEqual(expected);
        const { id } = task;
        expect(WiredTask.toJSON(await got.getTask({ tenant: '', id, historyLength: undefined }))).toEqual(
          expected,
        );
      }),
      RUNS,
    );
  });

  it('streams over REST what the published client of 0.3 reads as what 1.0 says', async () => {
    await fc.assert(
      fc.asyncProperty(arbStreamItem(), async (item) => {
        const body = `data: ${JSON.stringify(V03_REST.dialect.writeItem(item))}\n\n`;
        const fetchImpl: typeof fetch = async () =>
          new Response(body, { headers: { 'Content-Type': 'text/event-stream' } });
        const client = new LegacyRestTransport({ endpoint: 'http://localhost', fetchImpl });
        const read: unknown[] = [];
        for await (const event of client.resubscribeTask({ tenant: '', id: 't' }))
          read.push(StreamResponse.toJSON(event));
        const expected = StreamResponse.toJSON(StreamResponse.fromJSON(V1.writeItem(inProtoItem(item))));
        // The published reader of REST loses whether a chunk is appended.
        if (item.kind === 'change' && item.change.kind === 'artifact')
          delete (expected as { artifactUpdate: { append?: boolean } }).artifactUpdate.append;
        expect(read).toEqual([expected]);
      }),
      RUNS,
    );
  });

  it('shows a card that the published reader of 0.3 takes for that of 1.0', () => {
    fc.assert(
      fc.property(arbServedCard(), (card) => {
        const read = AgentCard.toJSON(parseLegacyAgentCard(json(V03.writeCard(card)))) as Record<
          string,
          unknown
        >;
        const { supportedInterfaces, ...shown } = AgentCard.toJSON(
          AgentCard.fromJSON(V1.writeCard(card)),
        ) as Record<string, unknown>;
        expect(read).toMatchObject(shown);
        expect(supportedInterfaces).toBeDefined();
      }),
      RUNS,
    );
  });

  it('refuses what does not fit, naming field and value', () => {
    const parts = [{ kind: 'text', text: 'hello' }];
    const send = (message: object) => V03.read.send?.({ message });
    expect(() => send({ role: 'user', parts })).toThrow(/message\.messageId is missing/);
    expect(() => send({ role: 'user', messageId: 'm', parts: [] })).toThrow(/message\.parts is \[\], /);
    expect(() => send({ role: 'boss', messageId: 'm', parts })).toThrow(/message\.role is "boss", /);
    expect(() => send({ role: 'user', messageId: 'm', parts: [{ kind: 'data' }] })).toThrow(
      /message\.parts\[0\].*a part of kind data with data/,
    );
    expect(() => send({ role: 'user', messageId: 'm', parts: [{ text: 'a', url: 'http://b' }] })).toThrow(
      /message\.parts\[0\].*exactly one of text/,
    );
    expect(() => V03.read.get?.({ id: 't', historyLength: -1 })).toThrow(/historyLength is -1, /);
  });
});

const arbServedCard = (): fc.Arbitrary<ServedCard> => {
  const text = arbTaskId();
  const modes = fc.uniqueArray(fc.constantFrom('text/plain', 'application/json'), { minLength: 1 });
  return fc
    .record(
      {
        id: text,
        name: text,
        description: text,
        version: text,
        provider: fc.record({ organization: text, url: fc.webUrl() }),
        documentationUrl: fc.webUrl(),
        iconUrl: fc.webUrl(),
        skills: fc.uniqueArray(
          fc.record({
            id: text,
            name: text,
            description: text,
            tags: fc.array(text, { minLength: 1, maxLength: 2 }),
            inputModes: modes,
            outputModes: modes,
            inputSchema: fc.constant({}),
            outputSchema: fc.constant({}),
          }),
          { maxLength: 3, selector: ({ id }) => id },
        ),
        pushNotifications: fc.boolean(),
        hasExtendedCard: fc.boolean(),
        extensions: fc.array(
          fc.record({ uri: fc.webUrl(), description: text, required: fc.constant(true) }),
          { maxLength: 2 },
        ),
        securitySchemes: fc.constantFrom<ServedCard['securitySchemes'][]>(
          {},
          { bearer: { type: 'http', scheme: 'Bearer', bearerFormat: 'JWT' } },
          {
            key: { type: 'apiKey', in: 'header', name: 'X-API-Key', description: 'a key' },
            tls: { type: 'mutualTLS' },
          },
        ),
      },
      {
        requiredKeys: [
          'name',
          'description',
          'version',
          'skills',
          'pushNotifications',
          'hasExtendedCard',
          'extensions',
          'securitySchemes',
        ],
        noNullPrototype: true,
      },
    )
    .map((card) => ({ ...card, id: card.id, baseUrl: 'http://localhost:4100' }));
};
