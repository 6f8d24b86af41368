import { z } from 'zod';
import { ToolKind } from '../coding-event.ts';

const MAX_ID = 500;
const MAX_PATHS = 1_000;
const MAX_ENTRIES = 500;
const MAX_OPTIONS = 100;
const MAX_METHODS = 50;

const Id = z.string().min(1).max(MAX_ID);
/** A kind that nobody knows here is one of which nothing is known. */
const Kind = ToolKind.catch('other');

/** What it shows of a tool; of all that only a change names a file. */
const ToolContent = z.union([
  z.object({ type: z.literal('diff'), path: z.string() }),
  z.object({ type: z.string() }).transform(() => undefined),
]);

const toolFields = {
  toolCallId: Id,
  title: z.string().nullish(),
  kind: Kind.nullish(),
  status: z.string().nullish(),
  locations: z
    .array(z.object({ path: z.string() }))
    .max(MAX_PATHS)
    .nullish(),
  content: z.array(ToolContent).max(MAX_PATHS).nullish(),
};

/** What a message says of a tool; what is absent is as it was. */
export const AcpTool = z.object(toolFields);
export type AcpTool = z.infer<typeof AcpTool>;

const PlanStatus = z.enum(['pending', 'in_progress', 'completed']).catch('pending');

const Content = z.union([
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({ type: z.string() }).transform(() => undefined),
]);

/** The updates of a session that are read. */
export const AcpUpdate = z.discriminatedUnion('sessionUpdate', [
  z.object({
    sessionUpdate: z.literal('agent_message_chunk'),
    content: Content,
    messageId: z.string().nullish(),
  }),
  z.object({ sessionUpdate: z.literal('tool_call'), ...toolFields }),
  z.object({ sessionUpdate: z.literal('tool_call_update'), ...toolFields }),
  z.object({
    sessionUpdate: z.literal('plan'),
    entries: z.array(z.object({ content: z.string(), status: PlanStatus })).max(MAX_ENTRIES),
  }),
  z.object({
    sessionUpdate: z.literal('usage_update'),
    cost: z.object({ amount: z.number().nonnegative(), currency: z.string() }).nullish(),
  }),
]);
export type AcpUpdate = z.infer<typeof AcpUpdate>;

/** Any update of a session, those that are not read included. */
export const AcpNotice = z.object({
  sessionId: Id,
  update: z.looseObject({ sessionUpdate: z.string() }),
});

/** A question whether a tool may be used. */
export const AcpPermissionRequest = z.object({
  sessionId: Id,
  toolCall: AcpTool,
  options: z.array(z.object({ optionId: Id, kind: z.string() })).max(MAX_OPTIONS),
});
export type AcpPermissionRequest = z.infer<typeof AcpPermissionRequest>;

export const AcpReadRequest = z.object({
  path: z.string(),
  line: z.int().nonnegative().nullish(),
  limit: z.int().nonnegative().nullish(),
});
export type AcpReadRequest = z.infer<typeof AcpReadRequest>;

export const AcpWriteRequest = z.object({ path: z.string(), content: z.string() });
export type AcpWriteRequest = z.infer<typeof AcpWriteRequest>;

/** What it says of itself. */
export const AcpIntroduction = z.object({
  protocolVersion: z.number(),
  agentCapabilities: z.object({ loadSession: z.boolean().nullish() }).nullish(),
  authMethods: z
    .array(z.object({ id: Id, name: z.string().nullish() }))
    .max(MAX_METHODS)
    .nullish(),
});
export type AcpIntroduction = z.infer<typeof AcpIntroduction>;

export const AcpSession = z.object({ sessionId: Id });

const Tokens = z.int().nonnegative().nullish().catch(undefined);

/** How its turn has ended. `usage` is told by some, and not by the protocol. */
export const AcpTurnEnd = z.object({
  stopReason: z.string(),
  usage: z.object({ inputTokens: Tokens, outputTokens: Tokens }).nullish().catch(undefined),
});
export type AcpTurnEnd = z.infer<typeof AcpTurnEnd>;
