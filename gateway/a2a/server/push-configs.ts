import type { TaskOwner } from '../../../runtime/protocol/task-service.ts';
import type { Operations, PushConfig } from '../wire/operations.ts';

/**
 * The configs of push notifications, which owners make for their tasks. Others' tasks and configs are as if they were not
 * there (TASK_NOT_FOUND).
 */
export interface PushConfigService {
  /**
   * Checks a config before there is a task. Rejects with INVALID_PAYLOAD naming the field, or a URL that is not called.
   */
  check(config: Omit<PushConfig, 'id' | 'taskId'> & { readonly id?: string }): Promise<void>;
  /**
   * Creates a config; it is stored when this resolves. One without an id that equals another is that one.
   *
   * - `after`   changes after this number are told. @default those from now on
   * - `dialect` the version of A2A in which. @default the newest
   *
   * Rejects with TASK_NOT_FOUND, with QUOTA_EXCEEDED, and with INVALID_PAYLOAD naming a URL that is not called.
   */
  create(
    owner: TaskOwner,
    config: Operations['createPush']['in'],
    options?: { readonly after?: number; readonly dialect?: string | undefined },
  ): Promise<Operations['createPush']['out']>;
  /** Rejects with TASK_NOT_FOUND. */
  get(owner: TaskOwner, wanted: Operations['getPush']['in']): Promise<Operations['getPush']['out']>;
  /** Rejects with TASK_NOT_FOUND, and with INVALID_PAYLOAD on a page token that is none. */
  list(owner: TaskOwner, wanted: Operations['listPush']['in']): Promise<Operations['listPush']['out']>;
  /** Also when there is none of this id. Rejects with TASK_NOT_FOUND. */
  delete(owner: TaskOwner, wanted: Operations['deletePush']['in']): Promise<void>;
}
