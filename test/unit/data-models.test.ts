import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as negotiator from 'orrery/negotiator';
import * as orrery from 'orrery';
import * as sharedState from 'orrery/shared-state';
import * as swarm from 'orrery/swarm';
import * as tools from 'orrery/tools';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { parseOptions } from '../../runtime/protocol/parse-options.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** What is exported, by name. */
const ENTRIES: Readonly<Record<string, unknown>> = {
  ...tools,
  ...sharedState,
  ...swarm,
  ...negotiator,
  ...orrery,
};
/** The seed's own name of a schema goes too. */
const schemaOf = (name: string): z.ZodType => (ENTRIES[name] ?? ENTRIES[`${name}Schema`]) as z.ZodType;

/** The interfaces of seed 1 that have fields alone, with their fields; and what MCP's requirements have beside them. */
const FIELDS: Readonly<Record<string, string>> = {
  AgentCard:
    'id name version description tier protocols endpoints capabilities revision sandboxId origin lastSeenAt',
  AgentEndpoint: 'transport address',
  CapabilityDescriptor: 'name description inputSchema outputSchema',
  A2AEnvelope: 'id schemaVersion sender recipient correlationId type timestamp payload metadata',
  RoutingResult: 'delivered path targetAgentId latencyMs error',
  TierRoutingConfig: 'rules',
  TierRule: 'sourceTier allowedTargetTiers requiresEscalationJustification',
  SandboxRoutingConfig: 'enforced crossSandboxAllowList',
  TaskProposalPayload:
    'taskDescription requiredCapabilities estimatedComplexity deadlineMs estimatedCompletionMs rejectionReason alternativeSuggestion escalationJustification',
  TaskProposal:
    'proposalId taskDescription requiredCapabilities estimatedComplexity deadlineMs proposerAgentId status acceptedBy rejectionReason alternativeSuggestion correlationId',
  SwarmSession: 'id taskDescription participants subTasks status sharedState createdAt',
  SwarmSubTask: 'id description assignedAgent requiredCapabilities status result',
  CRDTSyncMessage: 'sourceAgentId vectorClock payload timestamp',
  A2ALogEvent: 'type envelopeId sender recipient messageType routingPath toolName duration success timestamp',
  A2AMetrics:
    'totalMessagesSent totalMessagesReceived messagesByType averageRoutingLatencyMs errorCount totalToolInvocations toolInvocationsByTool averageToolDurationMs toolErrorCount',
  Tool: 'name description inputSchema outputSchema agentId',
  ToolInvocation: 'tool agentId arguments result error startedAtMs durationMs',
  ErrorData: 'code message details stack taint',
  ToolError: 'code message agentId details',
  ResourceDescriptor: 'uri name description mimeType',
  PromptDescriptor: 'name description arguments',
  SystemEvent: 'type timestamp place agentId envelopeId security taint',
};
/** Those that are one of several values. */
const VALUES: readonly string[] = ['AgentTier', 'A2AMessageType', 'ChannelStatus', 'ProposalStatus'];
const MODELS = [...Object.keys(FIELDS), ...VALUES];

/** Where what crosses a border is declared. */
const ROOMS = ['runtime', 'actors/negotiator', 'actors/swarm', 'actors/shared-state', 'actors/tools'];

interface Declared {
  readonly name: string;
  readonly file: string;
  readonly how: 'inferred' | 'written';
  /** It has fields alone: nothing of it is called. */
  readonly isData: boolean;
}

/** Every type that a source exports. */
function declaredIn(file: string): readonly Declared[] {
  const source = ts.createSourceFile(file, readFileSync(join(ROOT, file), 'utf8'), ts.ScriptTarget.Latest);
  return source.statements.flatMap((statement): Declared[] => {
    const isExported = ts.canHaveModifiers(statement)
      ? ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)
      : false;
    if (isExported !== true) return [];
    if (ts.isInterfaceDeclaration(statement))
      return [{ name: statement.name.text, file, how: 'written', isData: statement.members.every(isField) }];
    if (!ts.isTypeAliasDeclaration(statement)) return [];
    const name = statement.name.text;
    const isInferred = new RegExp(`^z\\.(infer|output|input)<typeof ${name}>$`).test(
      statement.type.getText(source),
    );
    return [{ name, file, how: isInferred ? 'inferred' : 'written', isData: false }];
  });
}

/** A field that is called is none; a type that is named is not looked into. */
const isField = (member: ts.TypeElement): boolean =>
  ts.isPropertySignature(member) && member.type !== undefined && !ts.isFunctionTypeNode(member.type);

const sources = (room: string): readonly string[] =>
  readdirSync(join(ROOT, room), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.includes('.test.'))
    .map((name) => join(room, name));

const DECLARED = ROOMS.flatMap(sources).flatMap(declaredIn);

const PROPOSAL = {
  proposalId: 'p',
  taskDescription: '',
  requiredCapabilities: ['plan'],
  estimatedComplexity: 'simple',
  deadlineMs: 1,
  proposerAgentId: 'sun',
  status: 'pending',
  correlationId: 'c',
  isHeld: false,
  proposedAtMs: 1,
};
const METRICS = new orrery.A2AObservability().getMetrics();
const INVOCATION = { tool: 'mars.plan', agentId: 'mars', arguments: {}, startedAtMs: 1, durationMs: 1 };
const TOOL = {
  name: 'mars.plan',
  title: '',
  description: '',
  inputSchema: {},
  outputSchema: {},
  agentId: 'mars',
  capability: 'plan',
  annotations: {},
  streams: false,
  isContent: false,
};

describe('The data models: what seed 1 has, tools and their calls, errors and events (N-D15)', () => {
  it.each(MODELS)('%s is a schema, and its type is inferred from that', (name) => {
    const found = DECLARED.filter((declared) => declared.name === name);
    expect(found.map(({ how }) => how)).toEqual(['inferred']);
    expect(schemaOf(name), `${name} as a value`).toBeInstanceOf(z.ZodType);
  });

  it.each(Object.entries(FIELDS))('%s has the fields that are asked of it', (name, fields) => {
    expect(shapeOf(schemaOf(name))).toEqual(expect.arrayContaining(fields.split(' ')));
  });

  it('are all that is declared in the room of shared words: whatever else has fields alone does not cross a border', () => {
    const written = DECLARED.filter(
      ({ file, how, isData }) => how === 'written' && isData && file.startsWith('runtime/protocol/'),
    ).map(({ name }) => name);
    expect(written.sort()).toEqual([...NO_MODELS].sort());
  });

  it.each([
    ['TaskProposal', { ...PROPOSAL, status: 'lost' }, 'value.status is "lost"'],
    ['TaskProposal', { ...PROPOSAL, requiredCapabilities: [7] }, 'value.requiredCapabilities[0] is 7'],
    ['A2AMetrics', { ...METRICS, errorCount: -1 }, 'value.errorCount is -1'],
    ['ToolInvocation', { ...INVOCATION, durationMs: 'long' }, 'value.durationMs is "long"'],
    ['ToolInvocation', { ...INVOCATION, error: { code: 'LOST' } }, 'value.error.code is "LOST"'],
    ['Tool', { ...TOOL, streams: 'yes' }, 'value.streams is "yes"'],
    ['SystemEvent', { type: 'error', timestamp: null }, 'value.timestamp is null'],
    ['SystemEvent', { type: 'error', timestamp: 1, taint: [7] }, 'value.taint[0] is 7'],
    ['TierRule', { sourceTier: 9 }, 'value.sourceTier is 9'],
  ])('%s of a wrong value is refused by field and value: %j', (name, value, text) => {
    const parse = () => parseOptions(schemaOf(name) as z.ZodType<object>, value as never, 'value');
    expect(parse).toThrow(expect.objectContaining({ code: 'INVALID_OPTIONS' }));
    expect(parse).toThrow(text);
  });
});

/** The fields of an object's schema, under what is wrapped around it. */
function shapeOf(schema: z.ZodType): readonly string[] {
  if (schema instanceof z.ZodObject) return Object.keys(schema.shape as object);
  if (schema instanceof z.ZodReadonly || schema instanceof z.ZodPipe) {
    const inner = schema instanceof z.ZodReadonly ? schema.unwrap() : schema.in;
    return shapeOf(inner as z.ZodType);
  }
  throw new Error(`${schema.constructor.name} has no fields`);
}

/**
 * What has fields alone and is none of them: what functions take and give back within a thread, and what others say of
 * themselves in forms of their own (`Mcp`, `Remote`, tasks), which is read by schemas where it comes in, or as its specification
 * says (`TraceContext`).
 */
const NO_MODELS: readonly string[] =
  'ActorRow AgentProfile AgentRow AgentsOwn ApprovalAsker Capability CapabilityOptions CardFromAcpOptions Clearance Completing CompletionOptions Conservation DeadLetter DrawnState DrawnTransition EdgeRequest EnvelopeContent FirewallHooks Inherited JudgeRequest LastError MachineDrawing McpCompleting McpIdentity McpOffer McpTool MessageAnswer NewEnvelope NewReply NumberedMail OfferedPrompt OfferedResource OfferedTemplate PageOf Party ReceiveRequest Received RemoteCallOptions RemoteIdentity RemoteMessage RemoteSkill RemoteStatus RemoteTask RemoteTool RemoteToolCard RenderedPrompt RequestTimes RosterRow Seams SigningKeyPair SpanOptions StoreBatch StoredMail StoredRecord SupervisionRow TaskNews TaskPage TaskQuery ToldFailure TraceContext TransportSpec Unserialisable Verdict ViewOptions WantedContent WatchedStep'.split(
    ' ',
  );
