import type { Task, TaskMessage } from '../../../runtime/protocol/task.ts';
import type { MessageAnswer, Said, TaskOwner, TaskTerms } from '../../../runtime/protocol/task-service.ts';
import { type CallerRights, termsOfPrincipal } from '../../team/caller-rights.ts';
import { type A2AExtension, type Caller, withSenderFacts } from './caller.ts';
import { fault, faultOf, wrongParameter } from '../wire/faults.ts';
import { isOrreryError, agentNotFound } from '../../../runtime/protocol/errors.ts';
import type { SendOrder } from '../wire/operations.ts';
import { fitsAccepted, answersOf, outputModesOf } from '../wire/media-modes.ts';
import type { PushConfigService } from './push-configs.ts';
import { BARE, ownerOf, type TaskAccessDeps, taskFor } from './task-access.ts';
import type { AgentCard, CapabilityDescriptor } from '../../../runtime/protocol/agent-card.ts';
import type { ServedTeam } from '../../team/served-team.ts';

export interface TakeMessageDeps extends TaskAccessDeps {
  readonly push?: PushConfigService;
  readonly extensions: readonly A2AExtension[];
  readonly rights: CallerRights;
}

/** The task that a message went to, or its answer without a task. */
export type Taken =
  | { readonly kind: 'task'; readonly task: Task; readonly owner: TaskOwner }
  | ({ readonly kind: 'message' } & MessageAnswer);

/** Accepts a message; resolves when its task is stored, or it is answered. */
export async function takeMessage(deps: TakeMessageDeps, sent: SendOrder, caller: Caller): Promise<Taken> {
  const order = withSenderFacts(sent, caller.sender);
  requireShortIds(order);
  const { tasks, push } = deps;
  const owner = ownerOf(caller);
  if (order.push !== undefined) await requirePush(push).check(order.push);
  const known = knownTask(deps, owner, order, caller);
  if (known !== undefined) requireSame(known, order);
  const { agentId, outputModes } = addresseeOf(deps, order, caller, known && tasks.agentOf(owner, known.id));
  if (!fitsAccepted(outputModes, order.acceptedOutputModes))
    throw fault(
      'CONTENT_TYPE_NOT_SUPPORTED',
      `${agentId} answers in ${outputModes.join(', ')}, not in ${order.acceptedOutputModes.join(', ')}`,
      { field: 'configuration.acceptedOutputModes', outputModes },
    );
  const said = saidBy(deps, order, agentId, known, caller);
  const mayBeAnswered = order.takesMessages === true && known === undefined && !needsTask(deps, caller);
  const answered = mayBeAnswered ? await answerOf(deps, owner, said, caller.signal) : undefined;
  if (answered !== undefined) return answered;
  const task = await tasks.send(owner, said);
  // A config made with the message is told of all changes from the first.
  if (order.push !== undefined)
    await push?.create(
      owner,
      { ...order.push, taskId: task.id },
      { after: known?.generation ?? 0, dialect: caller.dialect },
    );
  return { kind: 'task', task, owner };
}

/** Whether an activated extension needs a task. */
const needsTask = ({ extensions }: TakeMessageDeps, caller: Caller): boolean =>
  extensions.some(({ uri, needsTasks }) => needsTasks === true && caller.extensions.includes(uri));

/** Answers a message without a task. Such a message cannot have push configs. */
async function answerOf(
  { tasks }: TakeMessageDeps,
  owner: TaskOwner,
  said: Said,
  signal: AbortSignal,
): Promise<Taken | undefined> {
  const answering = tasks.answer?.(owner, said, signal);
  if (answering === undefined) return undefined;
  try {
    return { kind: 'message', ...(await answering) };
  } catch (error) {
    if (!isOrreryError(error) || faultOf(error) !== 'INTERNAL') throw error;
    // What it says is made for callers.
    throw fault('INTERNAL', error.message, { ...error.details, code: error.code });
  }
}

/** The task that the message continues. Throws TASK_NOT_FOUND, unless the message may open it. */
function knownTask(
  deps: TakeMessageDeps,
  owner: TaskOwner,
  order: SendOrder,
  caller: Caller,
): Task | undefined {
  const { taskId, opensTask } = order;
  if (taskId === undefined) return undefined;
  try {
    return taskFor(deps, owner, taskId, caller, BARE);
  } catch (error) {
    if (opensTask === true && faultOf(error) === 'TASK_NOT_FOUND') return undefined;
    throw error;
  }
}

function saidBy(
  { extensions, rights }: TakeMessageDeps,
  order: SendOrder,
  agentId: string,
  known: Task | undefined,
  caller: Caller,
): Said {
  const { message, taskId, contextId, metadata, ifGeneration } = order;
  const taint = rights.taintOf(caller.principal, 'a2a');
  return {
    message,
    agentId,
    ...(taskId === undefined ? {} : known === undefined ? { newTaskId: taskId } : { taskId }),
    ...(contextId === undefined ? {} : { contextId }),
    ...(metadata === undefined ? {} : { metadata }),
    ...(ifGeneration === undefined ? {} : { ifGeneration }),
    terms: { ...termsOf(extensions, order, caller), ...(taint === undefined ? {} : { taint }) },
    // It was made of what has just been read.
    isHandedOver: true,
  };
}

/** The longest id of a message, task or conversation: ids are stored, and are keys. */
const MAX_ID = 256;

/** Throws INVALID_PARAMS naming the id that is too long. */
function requireShortIds({ message: { messageId }, taskId, contextId }: SendOrder): void {
  for (const [field, id] of Object.entries({ messageId, taskId, contextId }))
    if (id !== undefined && id.length > MAX_ID)
      throw wrongParameter(`message.${field}`, id, `at most ${MAX_ID} characters`);
}

function requireSame(task: Task, { contextId }: SendOrder): void {
  if (contextId !== undefined && contextId !== task.contextId)
    throw wrongParameter('message.contextId', contextId, `that of the task, "${task.contextId}"`);
}

/** Throws PUSH_NOTIFICATION_NOT_SUPPORTED. */
export function requirePush(push: PushConfigService | undefined): PushConfigService {
  if (push !== undefined) return push;
  throw fault('PUSH_NOTIFICATION_NOT_SUPPORTED', 'There are no push notifications here');
}

/** The terms of the caller and of the extensions that it activates. */
function termsOf(extensions: readonly A2AExtension[], order: SendOrder, caller: Caller): Partial<TaskTerms> {
  const said = extensions
    .filter(({ uri }) => caller.extensions.includes(uri))
    .map((extension) => extension.terms?.(order) ?? {});
  return Object.assign({}, ...said, termsOfPrincipal(caller.principal), caller.terms) as Partial<TaskTerms>;
}

/** The agent that a message is for, and the media types in which it answers. */
interface Addressee {
  readonly agentId: string;
  readonly outputModes: readonly string[];
}

/**
 * Who a message is for: `atTask`, who works at its task; or whom the caller names; or, by the capability that a data part
 * `{tool, arguments}` names, the first that has it; or the team's entry.
 *
 * Throws AGENT_NOT_FOUND, and INVALID_PARAMS naming the choices when nobody is meant.
 */
function addresseeOf(
  { team }: { readonly team: ServedTeam },
  { message }: SendOrder,
  caller: Caller,
  atTask: string | undefined,
): Addressee {
  const tool = toolOf(message);
  const named = atTask ?? caller.agentId;
  if (named === undefined) {
    const card = tool === undefined ? entryOf(team) : ownerOfTool(team, tool);
    return { agentId: card.id, outputModes: modesOf(card, tool) };
  }
  const card = team.card(named);
  if (card !== undefined) return { agentId: named, outputModes: modesOf(card, tool) };
  // The agent may have left the team: its turn says so.
  if (named === atTask) return { agentId: named, outputModes: [] };
  throw agentNotFound(named);
}

/** The capability that a message names by a data part `{tool, arguments}`. */
function toolOf({ parts }: TaskMessage): string | undefined {
  for (const part of parts) {
    if (!('data' in part)) continue;
    const { data } = part;
    if (typeof data !== 'object' || data === null || Array.isArray(data)) continue;
    if (typeof data['tool'] === 'string') return data['tool'];
  }
  return undefined;
}

function entryOf(team: ServedTeam): AgentCard {
  const card = team.entry === undefined ? undefined : team.card(team.entry);
  if (card !== undefined) return card;
  const choices = team.cards().map(({ id }) => id);
  throw fault(
    'INVALID_PARAMS',
    `tenant: names no agent, expected one of ${choices.join(', ')}, or a data part {tool, arguments}`,
    { field: 'tenant', choices },
  );
}

function ownerOfTool(team: ServedTeam, tool: string): AgentCard {
  const entry = team.entry === undefined ? undefined : team.card(team.entry);
  const cards = entry === undefined ? team.cards() : [entry, ...team.cards()];
  const card = cards.find((candidate) => capabilityOf(candidate, tool) !== undefined);
  if (card !== undefined) return card;
  const choices = [...new Set(cards.flatMap(({ capabilities }) => capabilities.map(({ id }) => id)))];
  throw fault(
    'INVALID_PARAMS',
    `message.parts: names the tool "${tool}", expected one of ${choices.join(', ')}`,
    { field: 'message.parts', value: tool, choices },
  );
}

function modesOf(card: AgentCard, tool: string | undefined): readonly string[] {
  const capability = tool === undefined ? undefined : capabilityOf(card, tool);
  return capability === undefined ? answersOf(card) : outputModesOf(capability.outputSchema);
}

/** By its id, or with its agent before it. */
const capabilityOf = (
  { id, name, capabilities }: AgentCard,
  tool: string,
): CapabilityDescriptor | undefined =>
  capabilities.find((one) => tool === one.id || tool === `${id}.${one.id}` || tool === `${name}.${one.id}`);
