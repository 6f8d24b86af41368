/** What operations are called over JSON-RPC, by what they are called here. */
type MethodNames = Readonly<Record<string, string>>;

export const V1_METHODS = {
  send: 'SendMessage',
  stream: 'SendStreamingMessage',
  get: 'GetTask',
  list: 'ListTasks',
  cancel: 'CancelTask',
  subscribe: 'SubscribeToTask',
  createPush: 'CreateTaskPushNotificationConfig',
  getPush: 'GetTaskPushNotificationConfig',
  listPush: 'ListTaskPushNotificationConfigs',
  deletePush: 'DeleteTaskPushNotificationConfig',
  extendedCard: 'GetExtendedAgentCard',
} as const satisfies MethodNames;

const SINCE_V01 = {
  get: 'tasks/get',
  cancel: 'tasks/cancel',
  subscribe: 'tasks/resubscribe',
} as const satisfies MethodNames;

export const V03_METHODS = {
  ...SINCE_V01,
  send: 'message/send',
  stream: 'message/stream',
  createPush: 'tasks/pushNotificationConfig/set',
  getPush: 'tasks/pushNotificationConfig/get',
  listPush: 'tasks/pushNotificationConfig/list',
  deletePush: 'tasks/pushNotificationConfig/delete',
  extendedCard: 'agent/getAuthenticatedExtendedCard',
} as const satisfies MethodNames;

export const V01_METHODS = {
  ...SINCE_V01,
  send: 'tasks/send',
  stream: 'tasks/sendSubscribe',
  createPush: 'tasks/pushNotification/set',
  getPush: 'tasks/pushNotification/get',
} as const satisfies MethodNames;

/** Which operation each method means. */
export const operationsOf = <Operation extends string>(
  names: Readonly<Partial<Record<Operation, string>>>,
): Readonly<Record<string, Operation>> =>
  Object.fromEntries(Object.entries(names).map(([operation, name]) => [name, operation])) as Record<
    string,
    Operation
  >;
