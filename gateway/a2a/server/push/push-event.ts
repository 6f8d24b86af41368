/**
 * What happened to a piece of news on its way to a receiver.
 *
 * - `type`       `taken`: the receiver has it; `failed`: it is tried again; `gave-up`: nothing more is sent there;
 *                `not-kept`: the store did not keep how far it is, so that after a restart more is sent again than need be.
 * - `origin`     of the URL: the rest of it may be a secret.
 * - `generation` the number of the change.
 * - `security`   somebody was to be posted to who may not be.
 */
export interface PushEvent {
  readonly type: 'taken' | 'failed' | 'gave-up' | 'not-kept';
  readonly atMs: number;
  readonly taskId: string;
  readonly configId: string;
  readonly origin: string;
  readonly generation: number;
  readonly attempt: number;
  readonly reason?: string;
  readonly security?: true;
}

/** How often each of these happened, since the process began; `waiting` configs have something that is tried again. */
export interface PushCounts {
  readonly taken: number;
  readonly failed: number;
  readonly gaveUp: number;
  readonly refused: number;
  readonly configs: number;
  readonly waiting: number;
}

/**
 * How it goes with one config.
 *
 * - `state`        `told`: its receiver has everything, or is being told; `waiting`: it failed, and is asked again;
 *                  `gave-up`: it is not asked any more.
 * - `acknowledged` the receiver has every change up to this number.
 * - `reason`       what the last attempt failed with.
 */
export interface PushStatus {
  readonly id: string;
  readonly state: 'told' | 'waiting' | 'gave-up';
  readonly acknowledged: number;
  readonly failingSinceMs?: number;
  readonly reason?: string;
}
