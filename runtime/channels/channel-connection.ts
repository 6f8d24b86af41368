import type { Clock } from '../protocol/seams.ts';
import { type Connection, type Frame, frameBytes } from '../protocol/transport.ts';
import type { FrameFault } from './channel-event.ts';
import { type ChannelFrame, frameText, readFrame } from './channel-frame.ts';
import type { ChannelSettings } from './channel-options.ts';

/** Callbacks of a connection. None is called within a call to the connection, nor after `end`. */
export interface ConnectionUser {
  onFrame(frame: ChannelFrame, bytes: number): void;
  /** A frame was not used; the connection goes on unless `onLost` follows. */
  onFault(fault: FrameFault, reason: string): void;
  /** There is room again after `hasRoom` said that there was none. */
  onRoom(): void;
  onLost(reason: string): void;
}

type ConnectionSettings = Pick<
  ChannelSettings,
  'heartbeatMs' | 'silenceTimeoutMs' | 'maxFrameBytes' | 'highWaterBytes' | 'maxBadFrames'
>;

/** How long the last frame of a connection may take to be handed over. */
const LAST_FRAME_MS = 1_000;

/**
 * One connection of a channel: checks frames, sends heartbeats, and ends once.
 *
 * It is lost once, for any reason: the connection's own, silence, a frame that is too large, too many that make no sense.
 */
export class ChannelConnection {
  readonly #connection: Connection;
  readonly #clock: Clock;
  readonly #settings: ConnectionSettings;
  readonly #unsubscribe: readonly (() => void)[];
  #user: ConnectionUser;
  #channelId: string | undefined;
  #stopHeartbeat: (() => void) | undefined;
  #heardAtMs: number;
  #badFrames = 0;
  #underWay = 0;
  #isBlocked = false;
  #isOver = false;

  constructor(connection: Connection, clock: Clock, settings: ConnectionSettings, user: ConnectionUser) {
    this.#connection = connection;
    this.#clock = clock;
    this.#settings = settings;
    this.#user = user;
    this.#heardAtMs = clock.monotonicMs();
    this.#unsubscribe = [
      connection.onFrame((frame) => this.#take(frame)),
      connection.onLost((reason) => this.lose(reason)),
    ];
  }

  /** The largest frame that the connection carries. */
  get maxFrameBytes(): number {
    return this.#connection.maxFrameBytes;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Belongs to `user` and its channel from now on. */
  use(channelId: string, user: ConnectionUser): void {
    this.#user = user;
    this.#channelId = channelId;
  }

  /** When the other end was last heard, in monotonic milliseconds. */
  get heardAtMs(): number {
    return this.#heardAtMs;
  }

  /** Asks from now on, whenever nothing was heard for a while, whether the other end is there. */
  startPulse(): void {
    this.#stopHeartbeat?.();
    this.#heartbeat();
  }

  /** Asks whether the other end is there; `heardAtMs` tells. */
  ask(): void {
    if (this.#channelId !== undefined) void this.send(frameText({ type: 'ping', channel: this.#channelId }));
  }

  /** Says whether more may be put into the connection; if not, `onRoom` tells when. */
  hasRoom(): boolean {
    this.#isBlocked = this.#underWay > 0 && this.#connection.bufferedBytes >= this.#settings.highWaterBytes;
    return !this.#isBlocked;
  }

  /** Resolves with whether the frame was handed over while the connection was there. */
  async send(text: string): Promise<boolean> {
    if (this.#isOver) return false;
    this.#underWay += 1;
    try {
      await this.#connection.send(text);
    } catch (error) {
      this.lose((error as Error).message);
      return false;
    } finally {
      this.#underWay -= 1;
    }
    if (this.#isOver) return false;
    if (this.#isBlocked && this.hasRoom()) this.#user.onRoom();
    return true;
  }

  /** Counts a frame that makes no sense here. */
  fault(fault: FrameFault, reason: string): void {
    if (this.#isOver) return;
    this.#user.onFault(fault, reason);
    this.#badFrames += 1;
    if (this.#badFrames >= this.#settings.maxBadFrames) this.lose(`${this.#badFrames} frames made no sense`);
  }

  /** Ends the connection as lost. */
  lose(reason: string): void {
    if (this.#isOver) return;
    this.#release();
    void this.#connection.close().catch(() => undefined);
    this.#user.onLost(reason);
  }

  /** Ends the connection on purpose, after one last frame; nobody is told. Resolves when the connection is closed. */
  async end(lastFrame?: string): Promise<void> {
    if (this.#isOver) return;
    this.#release();
    // Reads on: an end that closes at the same time waits until its frames are taken.
    this.#connection.onFrame(() => undefined);
    if (lastFrame !== undefined) await this.#sendLast(lastFrame);
    await this.#connection.close().catch(() => undefined);
  }

  /** Sends a last frame, and waits a short while for it. */
  #sendLast(frame: string): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#clock.setTimer(LAST_FRAME_MS, resolve);
      const done = (): void => {
        cancel();
        resolve();
      };
      this.#connection.send(frame).then(done, done);
    });
  }

  #release(): void {
    this.#isOver = true;
    this.#stopHeartbeat?.();
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
  }

  #take(frame: Frame): void {
    if (this.#isOver) return;
    this.#heardAtMs = this.#clock.monotonicMs();
    const bytes = frameBytes(frame);
    if (bytes > this.#settings.maxFrameBytes) {
      const reason = `a frame of ${bytes} bytes, at most ${this.#settings.maxFrameBytes}`;
      this.#user.onFault('oversized', reason);
      this.lose(reason);
      return;
    }
    const read = readFrame(frame);
    if (read.type === 'malformed') this.fault('malformed', read.reason);
    else if (this.#channelId !== undefined && read.channel !== this.#channelId)
      this.fault('forged', `a frame of the channel "${read.channel}"`);
    else this.#user.onFrame(read, bytes);
  }

  #heartbeat(): void {
    if (this.#isOver) return;
    const { heartbeatMs, silenceTimeoutMs } = this.#settings;
    const silentMs = this.#clock.monotonicMs() - this.#heardAtMs;
    if (silentMs >= silenceTimeoutMs) {
      this.lose(`nothing was heard for ${Math.round(silentMs)} ms`);
      return;
    }
    if (silentMs >= heartbeatMs) this.ask();
    const untilNextMs = Math.min(
      silentMs >= heartbeatMs ? heartbeatMs : heartbeatMs - silentMs,
      silenceTimeoutMs - silentMs,
    );
    this.#stopHeartbeat = this.#clock.setTimer(untilNextMs, () => this.#heartbeat());
  }
}
