/**
 * Which test shows what a section of the A2A specification asks of a server.
 *
 * - `section` of A2A 1.0, by its number and title; those of other documents by their names.
 * - `asks`    what it asks, in a few words.
 * - `test`    file and title of the test; `%s` where there is one for each binding or value.
 */
export interface CoveredSection {
  readonly section: string;
  readonly asks: string;
  readonly test: readonly [file: string, title: string];
}

const SDK = 'test/integration/a2a-sdk-client.test.ts';
const RPC = 'test/integration/a2a-json-rpc.test.ts';
const REST = 'test/integration/a2a-rest.test.ts';
const STREAMS = 'test/integration/a2a-streams.test.ts';
const CARDS = 'test/integration/a2a-cards.test.ts';
const PUSH = 'test/integration/a2a-push-configs.test.ts';
const CODEC = 'test/property/a2a-v1-codec.test.ts';
const SIGNATURES = 'test/property/a2a-card-signature.test.ts';
const EQUIVALENCE = 'test/conformance/a2a/bindings.test.ts';
const GRPC = 'test/integration/a2a/grpc.test.ts';
const GRPC_EDGE = 'test/integration/a2a/grpc-edge.test.ts';
const DIALECTS = 'test/integration/a2a/dialects.test.ts';
const OLD = 'test/integration/a2a/old-clients.test.ts';
const FAULTS = 'test/unit/gateway/a2a/wire/faults.test.ts';
const VERSIONS = 'test/unit/gateway/a2a/server/versions.test.ts';
const ROUTES = 'test/unit/gateway/a2a/wire/rest-routes.test.ts';

const BLOCKS = 'blocks until the task is over, and answers with what was made';
const AT_ONCE = 'answers at once when that is asked for';
const STREAM = 'streams the task, then each change, and ends';
const REFUSES = 'refuses what cannot be, by the error of the protocol';
const SCOPED = "takes somebody else's task for one that is not there, in the tenant or out of it";
const ONCE = 'takes a message that is sent twice for one message';
const LISTS = 'lists tasks, the newest first, a page at a time';
const SUBSCRIBES = 'lets several subscribe, who all see the same';
const ASKS = 'C-11 waits for its owner, goes on with the answer, and stands as the dialect says';
const SIGNED = 'are signed, by a signature that the SDK verifies, and that fails when the card is another';
const EXTENDED =
  'show what is extended to those who are known, and that there is nothing more where there is not';
const SAME = 'whatever is asked for is answered alike over JSON-RPC and over HTTP+JSON';

export const MANIFEST: readonly CoveredSection[] = [
  { section: '3.1.1 Send Message', asks: 'a task comes of it', test: [SDK, BLOCKS] },
  { section: '3.1.1 Send Message', asks: 'nothing is said to a task that is over', test: [SDK, REFUSES] },
  { section: '3.1.2 Send Streaming Message', asks: 'the task, then its changes', test: [SDK, STREAM] },
  {
    section: '3.1.2 Send Streaming Message',
    asks: 'it ends where the task is interrupted',
    test: [SDK, 'a stream ends where its owner is asked, and its answer streams on'],
  },
  {
    section: '3.1.3 Get Task',
    asks: 'the task as it is',
    test: [SDK, 'gets a task, with as much of its history as is wanted'],
  },
  { section: '3.1.4 List Tasks', asks: 'order, cursor, filters, nextPageToken always', test: [SDK, LISTS] },
  {
    section: '3.1.4 List Tasks',
    asks: 'page sizes of 1 to 100',
    test: [RPC, 'X-36 says -32602 to bad parameters, naming field and value'],
  },
  {
    section: '3.1.5 Cancel Task',
    asks: 'the work ends; what is over is not cancelable',
    test: [SDK, 'cancels a task in mid-work, which ends the work'],
  },
  { section: '3.1.6 Subscribe to Task', asks: 'the task first, then its changes', test: [SDK, SUBSCRIBES] },
  { section: '3.1.6 Subscribe to Task', asks: 'not to a task that is over', test: [SDK, REFUSES] },
  {
    section: '3.1.7 to 3.1.10 Push Notification Configs',
    asks: 'made, read, listed, deleted however often',
    test: [PUSH, 'are made, read, listed and deleted, by their owner alone'],
  },
  {
    section: '4.3 Push Notification Objects',
    asks: 'news as stream responses, with token and credentials',
    test: [PUSH, 'that come with a message hear of everything, as the SDK reads it'],
  },
  {
    section: '13.2 Push Notification Security',
    asks: 'addresses that are not called',
    test: [PUSH, 'are refused by the address that they name, before any task is made of their message'],
  },
  {
    section: '3.1.7 to 3.1.10 Push Notification Configs',
    asks: 'an error where there are none',
    test: [REST, 'says what is wrong by status and google.rpc.Status'],
  },
  { section: '3.1.11 Get Extended Agent Card', asks: 'more for the authenticated', test: [CARDS, EXTENDED] },
  {
    section: '3.2.2 SendMessageConfiguration',
    asks: 'blocking unless returnImmediately',
    test: [SDK, AT_ONCE],
  },
  { section: '3.2.2 SendMessageConfiguration', asks: 'acceptedOutputModes', test: [SDK, REFUSES] },
  {
    section: '3.2.4 History Length Semantics',
    asks: 'unset all, 0 none, else the newest',
    test: [SDK, 'gets a task, with as much of its history as is wanted'],
  },
  {
    section: '3.2.6 Service Parameters',
    asks: 'A2A-Extensions, and which are active',
    test: [
      RPC,
      'activates the extensions that are asked for, says which, and refuses who leaves out a required one',
    ],
  },
  { section: '3.3.1 Idempotency', asks: 'a message id is one message', test: [SDK, ONCE] },
  {
    section: '3.3.2 Error Handling',
    asks: 'parameters that fail are named',
    test: [RPC, 'X-36 says -32602 to bad parameters, naming field and value'],
  },
  { section: '3.3.2 Error Handling', asks: 'what is not accessible is not there', test: [SDK, SCOPED] },
  {
    section: '3.3.2 Error Handling',
    asks: 'nothing of the inside is told',
    test: [RPC, 'X-37 says -32603 to what fails inside, and tells what it was to the operator alone'],
  },
  {
    section: '3.3.2 Error Handling',
    asks: 'missing and wrong credentials',
    test: [RPC, 'refuses bodies that are no JSON by their type, are too large, or of somebody unproven'],
  },
  { section: '3.3.4 Capability Validation', asks: 'extended cards', test: [CARDS, EXTENDED] },
  {
    section: '3.3.4 Capability Validation',
    asks: 'required extensions',
    test: [
      RPC,
      'activates the extensions that are asked for, says which, and refuses who leaves out a required one',
    ],
  },
  { section: '3.4.1 Context Identifier Semantics', asks: 'given ones are kept', test: [SDK, LISTS] },
  { section: '3.4.2 Multi-Turn Conversation Patterns', asks: 'input-required goes on', test: [SDK, ASKS] },
  { section: '3.4.2 Multi-Turn Conversation Patterns', asks: 'no other context', test: [SDK, REFUSES] },
  {
    section: '3.5.2 Streaming Event Delivery',
    asks: 'the same events in one order',
    test: [SDK, SUBSCRIBES],
  },
  {
    section: '3.5.2 Streaming Event Delivery',
    asks: 'one that closes does not matter to the others, nor to the task',
    test: [STREAMS, 'frees everything when its client has gone'],
  },
  {
    section: '3.6.2 Versioning: Server Responsibilities',
    asks: 'by major and minor; unsaid is 0.3',
    test: [VERSIONS, 'choose a dialect by major and minor number; nothing said is 0.3, and nobody says 0.1'],
  },
  {
    section: '3.6.2 Versioning: Server Responsibilities',
    asks: 'others are refused',
    test: [RPC, 'speaks the version that is said in the header or the query, without its patch number'],
  },
  {
    section: '4 Protocol Data Model',
    asks: 'tasks as the proto file has them',
    test: [CODEC, 'every task that is written is read by the SDK to the same, and nothing else stands in it'],
  },
  {
    section: '4.2 Streaming Events',
    asks: 'events as the proto file has them',
    test: [CODEC, 'every item of a stream is read by the SDK to the same'],
  },
  {
    section: '5.2 Functional Equivalence of Bindings',
    asks: 'the same over either',
    test: [EQUIVALENCE, SAME],
  },
  {
    section: '5.4 Error Code Mappings',
    asks: 'codes and statuses',
    test: [FAULTS, 'X-39, X-40 %s is %j'],
  },
  {
    section: '5.5 JSON Field Naming',
    asks: 'camelCase; enums by name; times in RFC 3339',
    test: [CODEC, 'every message that the SDK writes is read to what was meant, in either spelling'],
  },
  {
    section: '7 Authentication and Authorization',
    asks: 'declared on the card',
    test: [CARDS, 'C-02, X-02, A-02, A-03 say who serves, what is offered, and where it is to be had'],
  },
  {
    section: '8.2 Discovery Mechanisms',
    asks: 'at the well-known path',
    test: [CARDS, 'C-01, A-01 are the same at both paths, for everybody, of the system and of each agent'],
  },
  {
    section: '8.3.1 Supported Interfaces',
    asks: 'each with its binding and version, the preferred one first',
    test: [CARDS, 'C-02, X-02, A-02, A-03 say who serves, what is offered, and where it is to be had'],
  },
  {
    section: '8.3.2 Tenants',
    asks: 'an agent of several by its tenant',
    test: [SDK, 'serves an agent of several by its own card and its tenant'],
  },
  { section: '8.4 Agent Card Signing', asks: 'JWS that others verify', test: [CARDS, SIGNED] },
  {
    section: '8.4.1 Canonicalization',
    asks: 'RFC 8785 over the fields of the card',
    test: [SIGNATURES, 'what is signed is to the byte what the SDK signs'],
  },
  {
    section: '8.6 Caching',
    asks: 'ETag, Last-Modified, Cache-Control',
    test: [CARDS, 'C-01 are kept by whoever has them, until they are others'],
  },
  {
    section: '9.1 JSON-RPC: Protocol Requirements',
    asks: 'JSON by POST',
    test: [RPC, 'refuses bodies that are no JSON by their type, are too large, or of somebody unproven'],
  },
  {
    section: '9.4 JSON-RPC: Core Methods',
    asks: 'no other names',
    test: [RPC, 'X-35 says -32601 to a method that is none, also to the names that objects have'],
  },
  {
    section: '9.5 JSON-RPC: Error Handling',
    asks: 'broken JSON',
    test: [RPC, 'X-33 says -32700 to what is no JSON, with no id'],
  },
  {
    section: '9.5 JSON-RPC: Error Handling',
    asks: 'broken calls',
    test: [RPC, 'X-34 says -32600 to JSON that is no call, with the id where there is one'],
  },
  {
    section: 'JSON-RPC 2.0, 4.1 Notification',
    asks: 'no answer',
    test: [RPC, 'does what a notification says, and answers nothing, right or wrong'],
  },
  {
    section: 'JSON-RPC 2.0, 5 Response object',
    asks: 'the id that was asked with',
    test: [RPC, 'answers with the id that it was asked with, whatever JSON-RPC allows'],
  },
  {
    section: 'JSON-RPC 2.0, 6 Batch',
    asks: 'call by call',
    test: [RPC, 'answers a batch call by call, and nothing to its notifications'],
  },
  {
    section: '10.1 gRPC: Protocol Requirements',
    asks: 'TLS',
    test: [GRPC_EDGE, 'proves who it is by TLS, and asks callers to where that is wanted'],
  },
  {
    section: '10.2 gRPC: Service Parameter Transmission',
    asks: 'metadata is what headers are',
    test: [GRPC_EDGE, 'lets callers in by the metadata and the bytes of their message as they came'],
  },
  {
    section: '10.2 gRPC: Service Parameter Transmission',
    asks: 'A2A-Extensions',
    test: [GRPC_EDGE, 'activates the extensions that are asked for, and says which'],
  },
  {
    section: '10.4 gRPC: Core Methods',
    asks: 'send, get, list, cancel',
    test: [GRPC, 'sends, blocks until the task is over, gets, lists and cancels'],
  },
  {
    section: '10.4 gRPC: Core Methods',
    asks: 'push configs',
    test: [GRPC, 'keeps, shows, lists and deletes push configs'],
  },
  {
    section: '10.4 gRPC: Core Methods',
    asks: 'the extended card',
    test: [GRPC, 'shows the extended card to who has proved who they are'],
  },
  {
    section: '10.6 gRPC: Error Handling',
    asks: 'codes, and reasons in ErrorInfo',
    test: [GRPC, 'says by code and reason what is wrong'],
  },
  {
    section: '10.6 gRPC: Error Handling',
    asks: 'google.rpc.Status in the trailers',
    test: [GRPC_EDGE, 'says in its details what the status says, in google.rpc'],
  },
  {
    section: '10.7 gRPC: Streaming',
    asks: 'the task, its changes, and subscribing',
    test: [GRPC, 'streams the task and each change, and subscribes to one that goes on'],
  },
  {
    section: '5.1 Functional Equivalence Requirements',
    asks: 'every binding and dialect says the same of one task',
    test: [DIALECTS, 'read, and go on with, each other’s tasks (C-10)'],
  },
  {
    section: 'A2A 0.3: JSON-RPC and HTTP+JSON',
    asks: 'send, ask, answer',
    test: [OLD, 'blocks until the task is over, and asks and is answered in one task'],
  },
  {
    section: 'A2A 0.3: JSON-RPC and HTTP+JSON',
    asks: 'stream and resubscribe',
    test: [OLD, 'streams chunks, and comes back to a task that goes on'],
  },
  {
    section: 'A2A 0.3: JSON-RPC and HTTP+JSON',
    asks: 'push configs',
    test: [OLD, 'keeps push configs, the one without an id by that of its task, and tells them in 0.3'],
  },
  {
    section: 'A2A 0.3: JSON-RPC and HTTP+JSON',
    asks: 'errors',
    test: [OLD, 'says by the right error what cannot be'],
  },
  {
    section: 'A2A 0.1',
    asks: 'tasks/pushNotification',
    test: [OLD, 'keeps one push config for a task of 0.1, by no id'],
  },
  {
    section: '11.1 HTTP+JSON: Protocol Requirements',
    asks: 'application/a2a+json',
    test: [REST, 'answers as application/a2a+json, and takes application/json as well'],
  },
  {
    section: '11.3 HTTP+JSON: URL Patterns and HTTP Methods',
    asks: 'every path, with a tenant before it or not',
    test: [ROUTES, 'every path is found with what stands in it, with an agent before it or not'],
  },
  {
    section: '11.3.2 HTTP+JSON: Task Operations',
    asks: 'subscribe by GET and POST',
    test: [REST, 'subscribes by GET and by POST'],
  },
  {
    section: '11.5 HTTP+JSON: Query Parameter Naming',
    asks: 'numbers, truth, moments',
    test: [REST, 'reads numbers, truth and moments of the query, in either spelling'],
  },
  {
    section: '11.6 HTTP+JSON: Error Handling',
    asks: 'google.rpc.Status with ErrorInfo',
    test: [REST, 'says what is wrong by status and google.rpc.Status'],
  },
  {
    section: '11.7 HTTP+JSON: Streaming',
    asks: 'server-sent events',
    test: [STREAMS, 'numbers its events by the changes that they are, and types itself as an event stream'],
  },
  {
    section: 'WHATWG HTML, 9.2 Server-sent events',
    asks: 'Last-Event-ID',
    test: [
      STREAMS,
      'is resumed by Last-Event-ID wherever it was cut, without gap or repeat, also when the task is over',
    ],
  },
  { section: '13.1 Data Access and Authorization Scoping', asks: 'whose it is', test: [SDK, SCOPED] },
  { section: '13.3 Extended Agent Card Access Control', asks: 'who may see it', test: [CARDS, EXTENDED] },
  {
    section: '1.1 draft: generation, currentGeneration, ifGenerationMatch',
    asks: 'long polls and conditions',
    test: [
      RPC,
      '1.1: answers a long poll when the task has changed, and refuses what was said to an older one',
    ],
  },
  {
    section: '1.1 draft: generation, currentGeneration, ifGenerationMatch',
    asks: 'beside 1.0',
    test: [RPC, '1.1: is spoken by those who ask for it, over either binding, where it is served'],
  },
  {
    section: '1.1 draft: generation, currentGeneration, ifGenerationMatch',
    asks: 'numbers only for who speaks it',
    test: [CODEC, 'generations are there only for who speaks 1.1, as ProtoJSON writes long numbers'],
  },
];
