import type { Capability } from '../protocol/capability.ts';
import { COMPLETE_ARGUMENT, READ_RESOURCE, RENDER_PROMPT } from '../protocol/content-capabilities.ts';
import type { OfferedContent } from '../protocol/offered-content.ts';
import type { AgentDefinition, HandlerEntry, EnvelopeHandler } from './agent-definition.ts';
import type { HandlingContext } from './context.ts';
import type { A2AMessageType } from '../protocol/envelope.ts';
import { refused } from '../protocol/errors.ts';

type Content = OfferedContent<HandlingContext<never>>;

type Answer<Input> = (content: Content, input: Input, ctx: HandlingContext<never>) => unknown;

/** A handler entry as if the agent had declared it; its code is what the agent offers. */
function answered<Input, Output>(
  capability: Capability<Input, Output>,
  answer: Answer<Input>,
): readonly [string, (content: Content) => HandlerEntry] {
  return [
    capability.id,
    (content) => ({
      capability: capability as unknown as Capability,
      kind: 'value',
      isContent: true,
      run: (input: never, ctx) => answer(content, input as Input, ctx),
    }),
  ];
}

const ENTRIES = new Map([
  answered(READ_RESOURCE, (content, { uri }, ctx) => content.read(uri, ctx)),
  answered(RENDER_PROMPT, (content, { prompt, arguments: args }, ctx) => content.render(prompt, args, ctx)),
  answered(COMPLETE_ARGUMENT, (content, completing, ctx) => content.complete(completing as never, ctx)),
]);

/** What answers an envelope that names this capability: the handler of the agent, or what serves what it offers beside. */
export function entryOf(
  { handlers, content }: AgentDefinition<unknown>,
  capability: string | undefined,
): HandlerEntry | undefined {
  if (capability === undefined) return undefined;
  const declared = handlers.get(capability);
  if (declared !== undefined || content.isEmpty) return declared;
  return ENTRIES.get(capability)?.(content);
}

/** A value is asked for, a stream is read: the other way the answer would go nowhere. */
export function refuseOtherKind(
  { kind, capability: { id } }: HandlerEntry,
  isRead: boolean,
  agentId: string,
): void {
  if (isRead === (kind === 'stream')) return;
  const how = kind === 'stream' ? 'a stream: read it with stream()' : 'one value: ask for it with ask()';
  throw refused(`${agentId} answers "${id}" with ${how}`, { capability: id, kind });
}

/** What handles envelopes of this type that name no capability the agent declares; throws REFUSED if nothing does. */
export function envelopeHandlerOf(
  { envelopeHandlers }: AgentDefinition<unknown>,
  agentId: string,
  messageType: A2AMessageType,
  capability: string | undefined,
): EnvelopeHandler<unknown> {
  if (capability !== undefined && envelopeHandlers.size === 0)
    throw refused(`${agentId} does not handle the capability "${capability}"`, { capability });
  const onEnvelope = envelopeHandlers.get(messageType);
  if (onEnvelope === undefined)
    throw refused(`${agentId} handles no ${messageType} without a capability`, { messageType });
  return onEnvelope as EnvelopeHandler<unknown>;
}
