import type { ClientContext } from '@agentclientprotocol/sdk';
import { z } from 'zod';
import { type OrreryError, refused } from '../../../runtime/protocol/errors.ts';
import type { AttemptRecord } from '../attempt-record.ts';
import type { CodingOrder } from '../backends/coding-backend.ts';
import type { AttemptRequest } from '../attempt-request.ts';
import type { CodingUsage } from '../coding-event.ts';
import { toldInLine } from '../coding-text.ts';
import { rateLimitOf } from '../streams/rate-limit.ts';
import { AcpIntroduction, AcpSession, AcpTurnEnd } from './acp-message.ts';
import type { AcpUpdates } from './acp-updates.ts';

/** The version of the protocol that is spoken. */
const VERSION = 1;
/** The protocol's code for a program that nobody is logged in to. */
const NOT_LOGGED_IN = -32_000;

/** `now` in Unix milliseconds. */
export interface AcpTurnDeps {
  readonly agent: ClientContext;
  readonly request: AttemptRequest;
  readonly order: CodingOrder;
  readonly updates: AcpUpdates;
  readonly record: AttemptRecord;
  readonly now: () => number;
}

/** One turn of a session: the program is greeted, told its task, and waited for. */
export class AcpTurn {
  readonly #deps: AcpTurnDeps;
  #session: string | undefined;

  constructor(deps: AcpTurnDeps) {
    this.#deps = deps;
  }

  /**
   * Resolves when the program says that its turn is over, or cannot be had; the record has how. Rejects with REFUSED for a program
   * that cannot be worked with, and otherwise when it is gone.
   */
  async take(): Promise<void> {
    try {
      const introduction = await this.#greet();
      const session = await this.#open(introduction);
      await this.#prompt(session);
    } catch (error) {
      const answer = ErrorAnswer.safeParse(error);
      if (!answer.success) throw error;
      this.#failed(answer.data);
    }
  }

  /** Asks the program to end the turn, if one is under way; says whether it was asked. */
  cancel(): boolean {
    const { agent } = this.#deps;
    const sessionId = this.#session;
    if (sessionId === undefined) return false;
    // A program that is gone, or does not read, is stopped all the same.
    void agent.notify('session/cancel', { sessionId }).catch(() => undefined);
    return true;
  }

  async #greet(): Promise<AcpIntroduction> {
    const {
      agent,
      order,
      record: { name },
    } = this.#deps;
    const introduction = this.#read(
      'initialize',
      AcpIntroduction,
      await agent.request('initialize', {
        protocolVersion: VERSION,
        clientCapabilities: {
          fs: { readTextFile: true, writeTextFile: order.permission !== 'read' },
          terminal: false,
        },
        clientInfo: { name: 'orrery', version: '1.0.0' },
      }),
    );
    const { protocolVersion } = introduction;
    if (protocolVersion !== VERSION)
      throw refused(`${name} speaks version ${protocolVersion} of the protocol, not ${VERSION}`, {
        protocolVersion,
      });
    return introduction;
  }

  async #open(introduction: AcpIntroduction): Promise<string> {
    try {
      return (await this.#loaded(introduction)) ?? (await this.#new());
    } catch (error) {
      if (!isNotLoggedIn(error)) throw error;
      throw this.#notLoggedIn(introduction);
    }
  }

  /** The session of the request, if the program still has it. */
  async #loaded({ agentCapabilities }: AcpIntroduction): Promise<string | undefined> {
    const { agent, request, order, updates } = this.#deps;
    const { session } = order;
    if (session === undefined || agentCapabilities?.loadSession !== true) return undefined;
    updates.follow(session);
    try {
      await agent.request('session/load', { sessionId: session, cwd: request.root, mcpServers: [] });
      return session;
    } catch (error) {
      if (isNotLoggedIn(error) || !ErrorAnswer.safeParse(error).success) throw error;
      return undefined;
    }
  }

  async #new(): Promise<string> {
    const { agent, request, updates } = this.#deps;
    const answer = await agent.request('session/new', { cwd: request.root, mcpServers: [] });
    const { sessionId } = this.#read('session/new', AcpSession, answer);
    updates.follow(sessionId);
    return sessionId;
  }

  async #prompt(sessionId: string): Promise<void> {
    const { agent, request, order, updates, record } = this.#deps;
    this.#session = sessionId;
    record.take({ type: 'session.started', sessionId });
    updates.begin();
    const text = request.prompt(order.permission);
    const answer = await agent.request('session/prompt', { sessionId, prompt: [{ type: 'text', text }] });
    const { stopReason, usage } = this.#read('session/prompt', AcpTurnEnd, answer);
    record.takeAll(updates.end());
    const used = usageOf(usage);
    if (Object.keys(used).length > 0) record.take({ type: 'usage', usage: used });
    record.take({ type: 'ended', isError: stopReason !== 'end_turn', reason: toldInLine(stopReason) });
  }

  #failed({ message, data }: ErrorAnswer): void {
    const { updates, record, now } = this.#deps;
    record.takeAll(updates.end());
    const reason = toldInLine([message, ...detailsOf(data)].join(': '));
    record.takeAll(rateLimitOf(reason, now(), true));
    record.take({ type: 'ended', isError: true, reason });
  }

  #notLoggedIn({ authMethods }: AcpIntroduction): OrreryError {
    const { name } = this.#deps.record;
    const methods = (authMethods ?? []).map(({ id, name: told }) => toldInLine(told ?? id));
    const offered = methods.length === 0 ? 'no way' : methods.join(', ');
    return refused(`Nobody is logged in to ${name}. It has to be done by hand; it offers ${offered}`, {
      methods,
    });
  }

  /** What it has answered, if that is an answer to `method`. */
  #read<Schema extends z.ZodType>(method: string, schema: Schema, answer: unknown): z.output<Schema> {
    const parsed = schema.safeParse(answer);
    if (parsed.success) return parsed.data;
    throw refused(`${this.#deps.record.name} has answered ${method} with what is no answer to that`, {
      method,
    });
  }
}

/** An error that the program has answered with. */
const ErrorAnswer = z.object({ code: z.number(), message: z.string(), data: z.unknown() });
type ErrorAnswer = z.infer<typeof ErrorAnswer>;

const Details = z.union([z.string(), z.object({ details: z.string() }).transform(({ details }) => details)]);
const detailsOf = (data: unknown): string[] => {
  const details = Details.safeParse(data);
  return details.success ? [details.data] : [];
};

const isNotLoggedIn = (error: unknown): boolean => ErrorAnswer.safeParse(error).data?.code === NOT_LOGGED_IN;

const usageOf = (usage: AcpTurnEnd['usage']): CodingUsage => ({
  ...(usage?.inputTokens == null ? {} : { inputTokens: usage.inputTokens }),
  ...(usage?.outputTokens == null ? {} : { outputTokens: usage.outputTokens }),
});
