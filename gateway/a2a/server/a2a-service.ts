import { isOrreryError } from '../../../runtime/protocol/errors.ts';
import type { CardProvider } from '../../../runtime/protocol/firewall.ts';
import type { Clock } from '../../../runtime/protocol/seams.ts';
import { isTaskOver, type Task } from '../../../runtime/protocol/task.ts';
import type { TaskService } from '../../../runtime/protocol/task-service.ts';
import { type ServedTeam, shownTeam } from '../../team/served-team.ts';
import { CallerRights } from '../../team/caller-rights.ts';
import { type CardService, type CardOptions, createCardService } from './cards.ts';
import type { A2AExtension, Caller } from './caller.ts';
import { fault, wrongParameter } from '../wire/faults.ts';
import { withGivenIds, BARE, ownerOf, requireAgent, taskFor, whenBeyond, whenIdle } from './task-access.ts';
import type { ListOrder, OperationName, Operations, StreamItem } from '../wire/operations.ts';
import type { PushConfigService } from './push-configs.ts';
import { requirePush, takeMessage, type TakeMessageDeps } from './take-message.ts';
import { streamOfMessage, streamOfTask } from './task-stream.ts';

/**
 * - `push`       @default there are no push notifications
 * - `extensions` those that it serves. @default none
 * - `rights`     how far callers are believed. @default as `CallerRights` has it
 * - `cardProvider` gives the cards that are shown. @default those of the team
 * - `clock`      by which callers wait no longer than they say. @default they wait as long as it takes
 */
export interface A2AServiceOptions {
  readonly tasks: TaskService;
  readonly team: ServedTeam;
  readonly push?: PushConfigService;
  readonly cards?: CardOptions;
  readonly cardProvider?: CardProvider | undefined;
  readonly extensions?: readonly A2AExtension[];
  readonly clock?: Clock;
  readonly rights?: CallerRights;
}

/**
 * Everything that A2A can ask for, on a task service. It knows no dialect and no transport.
 *
 * Each operation rejects with an error that `faultOf` names; a stream's errors before its first item reject the operation
 * itself. What belongs to somebody else, or to another agent than the caller named, is as if it was not there.
 */
export interface A2AService {
  readonly cards: CardService;
  readonly extensions: readonly A2AExtension[];
  perform<Name extends OperationName>(
    name: Name,
    input: Operations[Name]['in'],
    caller: Caller,
  ): Promise<Operations[Name]['out']>;
}

type Performers = {
  readonly [Name in OperationName]: (
    input: Operations[Name]['in'],
    caller: Caller,
  ) => Promise<Operations[Name]['out']>;
};

export function createA2AService(options: A2AServiceOptions): A2AService {
  const { extensions = [], push, team, cardProvider } = options;
  const cards = createCardService({
    options: options.cards ?? {},
    team: cardProvider === undefined ? team : shownTeam(team, cardProvider),
    isLive: cardProvider !== undefined,
    extensions,
    pushNotifications: push !== undefined,
  });
  const tasks = withGivenIds(options.tasks);
  const { rights = new CallerRights() } = options;
  const performers = performersOf({ ...options, tasks, extensions, rights }, cards);
  return {
    cards,
    extensions,
    async perform(name, input, caller) {
      requireExtensions(extensions, caller);
      return performers[name](input, caller);
    },
  };
}

interface PerformersDeps extends TakeMessageDeps {
  readonly clock?: Clock;
}

/** How long a poll for the next change waits at most. */
const LONG_POLL_MS = 60_000;

function performersOf(deps: PerformersDeps, cards: CardService): Performers {
  const { tasks, clock } = deps;
  return {
    async send(order, caller) {
      const taken = await takeMessage(deps, order, caller);
      if (taken.kind === 'message') return taken;
      const { task, owner } = taken;
      const { signal } = caller;
      const waiting = { tasks, owner, clock, waitMs: order.waitMs, signal };
      const answer = order.returnImmediately ? task : await whenIdle(waiting, task);
      return { kind: 'task', task: withHistory(answer, order.historyLength) };
    },
    async stream(order, caller) {
      const taken = await takeMessage(deps, order, caller);
      if (taken.kind === 'message') return alone({ ...taken, isLast: true });
      const { task, owner } = taken;
      const shown = withHistory(task, order.historyLength);
      return streamOfMessage({ tasks, owner, signal: caller.signal }, shown, order.message.messageId);
    },
    async get({ taskId, historyLength, after }, caller) {
      const owner = ownerOf(caller);
      const task = taskFor(deps, owner, taskId, caller);
      if (after !== undefined) {
        const waiting = { tasks, owner, clock, waitMs: LONG_POLL_MS, signal: caller.signal };
        await whenBeyond(waiting, task, after);
      }
      return tasks.get(owner, taskId, { historyLength });
    },
    async list(order, caller) {
      requireAgent(deps.team, caller.agentId);
      if (!deps.rights.mayListAll(caller.principal)) requireConversation(order);
      const page = tasks.list(ownerOf(caller), { ...order, agentId: caller.agentId });
      return { ...page, pageSize: order.pageSize };
    },
    async cancel({ taskId }, caller) {
      const owner = ownerOf(caller);
      taskFor(deps, owner, taskId, caller);
      return tasks.cancel(owner, taskId).catch((error: unknown) => {
        throw isOrreryError(error) && error.code === 'TASK_OVER'
          ? fault('TASK_NOT_CANCELABLE', error.message, error.details)
          : error;
      });
    },
    async subscribe({ taskId, after }, caller) {
      const owner = ownerOf(caller);
      taskFor(deps, owner, taskId, caller);
      const task = tasks.get(owner, taskId, after === undefined ? {} : BARE);
      requireSubscribable(task, after);
      return streamOfTask({ tasks, owner, signal: caller.signal }, task, after);
    },
    async createPush(config, caller) {
      const { configs, taskId } = pushFor(deps, config.taskId, caller);
      return configs.create(ownerOf(caller), { ...config, taskId }, { dialect: caller.dialect });
    },
    async getPush(wanted, caller) {
      const { configs, taskId } = pushFor(deps, wanted.taskId, caller);
      return configs.get(ownerOf(caller), { ...wanted, taskId });
    },
    async listPush(wanted, caller) {
      const { configs, taskId } = pushFor(deps, wanted.taskId, caller);
      return configs.list(ownerOf(caller), { ...wanted, taskId });
    },
    async deletePush(wanted, caller) {
      const { configs, taskId } = pushFor(deps, wanted.taskId, caller);
      await configs.delete(ownerOf(caller), { ...wanted, taskId });
      return undefined;
    },
    async extendedCard(_input, caller) {
      return cards.extended(caller);
    },
  };
}

/** A stream of one item. */
async function* alone(item: StreamItem): AsyncGenerator<StreamItem, void> {
  yield item;
}

/** Anonymous callers share one owner. Each must name a conversation, and is shown its tasks alone. */
function requireConversation({ contextId }: ListOrder): void {
  if (contextId === undefined)
    throw wrongParameter('contextId', contextId, 'one, from a caller who does not prove who it is');
}

function requireSubscribable(task: Task, after: number | undefined): void {
  const { state } = task.status;
  if (after === undefined && isTaskOver(state))
    throw fault('UNSUPPORTED_OPERATION', `The task "${task.id}" is ${state}: nothing follows`, {
      taskId: task.id,
      state,
    });
  if (after !== undefined && after > task.generation)
    throw wrongParameter('after', after, `at most ${task.generation}, the number of the task's last change`);
}

/** Throws unless the caller activates every required extension. */
function requireExtensions(extensions: readonly A2AExtension[], caller: Caller): void {
  for (const { uri, required } of extensions)
    if (required && !caller.extensions.includes(uri))
      throw fault('EXTENSION_SUPPORT_REQUIRED', `The extension ${uri} is to be activated`, {
        extension: uri,
      });
}

function pushFor(
  deps: PerformersDeps,
  taskId: string,
  caller: Caller,
): { readonly configs: PushConfigService; readonly taskId: string } {
  const configs = requirePush(deps.push);
  return { configs, taskId: taskFor(deps, ownerOf(caller), taskId, caller).id };
}

function withHistory(task: Task, length: number | undefined): Task {
  if (length === undefined || task.history.length <= length) return task;
  return { ...task, history: length === 0 ? [] : task.history.slice(-length) };
}
