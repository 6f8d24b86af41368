import { type Mail, messageTypeOf, NO_ASK } from '../mailbox/mail.ts';
import type { A2AEnvelope } from '../protocol/envelope.ts';
import type { Span, SpanAttributes, SpanFault, SpanOptions, Tracer } from '../protocol/tracer.ts';
import type { Cell } from './cell.ts';
import type { Handling } from './handling.ts';
import type { Send, SendStep } from './send-step.ts';

/** What spans say of a mail, in the words of OpenTelemetry's conventions for messages where there are such. Never its payload. */
function attributesOf(
  mail: Mail,
  operation: string,
  type: 'send' | 'process',
  agent: string,
): SpanAttributes {
  const { id, sender, capability, correlationId, extras } = mail;
  return {
    'messaging.system': 'orrery',
    'messaging.operation.name': operation,
    'messaging.operation.type': type,
    'messaging.destination.name': agent,
    'messaging.message.id': id,
    'messaging.message.conversation_id': correlationId ?? id,
    'orrery.message.type': messageTypeOf(mail),
    'orrery.sender': sender,
    'orrery.capability': capability,
    'orrery.tool': extras?.tool,
  };
}

/** What a mail asks for, as names of spans say it. */
const subjectOf = (mail: Mail): string => mail.capability ?? messageTypeOf(mail);

/** The spans of what one thread sends: a mail carries the context of its own. That of an ask lasts until the answer. */
export class MailSpans implements SendStep {
  readonly #tracer: Tracer;
  readonly #open = new WeakMap<Send, Span>();

  constructor(tracer: Tracer) {
    this.#tracer = tracer;
  }

  concerns(): boolean {
    return true;
  }

  begin(send: Send): undefined {
    const { mail, manner, parent } = send;
    const operation = manner.expectsReply ? 'ask' : 'tell';
    const span = this.#tracer.start({
      name: `${operation} ${subjectOf(mail)}`,
      kind: manner.expectsReply ? 'client' : 'producer',
      attributes: attributesOf(mail, operation, 'send', mail.recipient),
      parent: this.#above(mail, parent),
    });
    this.#open.set(send, span);
    const { context } = span;
    if (context !== undefined) mail.extras = { ...mail.extras, trace: context };
  }

  /**
   * What is active is what the handler does, if one sends. Whoever sends without handling anything does so because of what the
   * mail says: what is active there may be anything.
   */
  #above({ extras }: Mail, handling: Handling | undefined): SpanOptions['parent'] {
    if (handling === undefined) return extras?.trace;
    if (handling.span === undefined) return 'none';
    return this.#tracer.active() === undefined ? handling.span.context : undefined;
  }

  /** The span of what is asked, which from now on whoever waits for the answer ends. */
  takeOf(send: Send): Span | undefined {
    const span = this.#open.get(send);
    this.#open.delete(send);
    return span;
  }

  end(send: Send, _row: unknown, fault?: SpanFault): void {
    this.takeOf(send)?.end(fault);
  }
}

/** Has an envelope that goes on elsewhere say that it is part of the work at it here, where that is traced. */
export function markTraced({ metadata }: A2AEnvelope, handling: Handling | undefined): void {
  const context = handling?.span?.context;
  if (context === undefined || metadata === undefined) return;
  metadata['traceparent'] = context.traceparent;
  metadata['tracestate'] = context.tracestate;
}

/** Begins the span of one attempt at a mail. */
export function handlingSpan(tracer: Tracer, { row, thread }: Cell, mail: Mail): Span {
  return tracer.start({
    name: `handle ${subjectOf(mail)}`,
    kind: mail.ask === NO_ASK ? 'consumer' : 'server',
    attributes: {
      ...attributesOf(mail, 'handle', 'process', row.id),
      'orrery.place': thread.id,
      'orrery.attempt': mail.attempts + 1,
    },
    parent: mail.extras?.trace ?? 'none',
  });
}
