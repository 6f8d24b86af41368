import type { RemoteEvent, RemoteTask } from '../../../runtime/protocol/remote-agent.ts';

/** What became of a message: a task, or an answer without one. */
export type RemoteAnswer = Extract<RemoteEvent, { kind: 'task' | 'message' }>;

export interface RemotePage {
  readonly tasks: readonly RemoteTask[];
  readonly nextPageToken: string;
  readonly total: number | undefined;
}
