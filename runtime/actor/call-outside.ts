/**
 * Calls a user's listener. What it throws is nobody's here: it is thrown on its own, as an uncaught error of the thread,
 * so that whatever is in the middle of something goes on.
 */
export function callOutside<Arg>(listener: ((arg: Arg) => void) | undefined, arg: Arg): void {
  try {
    listener?.(arg);
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}
