export { AgentClient, type ListQuery, type SendOptions } from './agent-client.ts';
export type { RemoteCard, RemoteInterface } from './card/remote-card.ts';
export type { ClientOptions, Credentials, OutgoingRequest } from './client-options.ts';
export type { RemoteAnswer, RemotePage } from './remote-task.ts';
