import { describe, expect, it } from 'vitest';
import { HangCheck } from '../../../../actors/mcp-servers/mounted-server.ts';

const patience = () => new AbortController().signal;

/** A check whose answers are given by hand. */
function checked() {
  const asked: PromiseWithResolvers<boolean>[] = [];
  const hung: boolean[] = [];
  const check = new HangCheck(
    () => {
      const one = Promise.withResolvers<boolean>();
      asked.push(one);
      return one.promise;
    },
    (hasHeld) => hung.push(hasHeld),
  );
  return { check, asked, hung };
}

describe('Whether an MCP server hangs', () => {
  it('is not asked before something has had no answer', async () => {
    const { check, asked } = checked();
    await check.mayGoOn(patience());
    expect(asked).toHaveLength(0);
  });

  it('is asked once at a time; what comes meanwhile waits, and goes on when it answers', async () => {
    const { check, asked, hung } = checked();
    check.begin();
    check.begin();
    expect(asked).toHaveLength(1);
    let isOn = false;
    const held = check.mayGoOn(patience()).then(() => {
      isOn = true;
    });
    await Promise.resolve();
    expect(isOn).toBe(false);
    asked[0]?.resolve(true);
    await held;
    expect(hung).toEqual([]);
    check.begin();
    expect(asked).toHaveLength(2);
  });

  it.each([true, false])(
    'is told when it does, and whether somebody waits whose request was not sent: %s',
    async (hasHeld) => {
      const { check, asked, hung } = checked();
      check.begin();
      const held = hasHeld ? expect(check.mayGoOn(patience())).rejects.toThrow('it hangs') : undefined;
      asked[0]?.resolve(false);
      await held;
      await asked[0]?.promise;
      expect(hung).toEqual([hasHeld]);
    },
  );

  it('holds nobody whose time is over, and does not count them as waiting', async () => {
    const { check, asked, hung } = checked();
    check.begin();
    const ending = new AbortController();
    const held = check.mayGoOn(ending.signal);
    const reason = new Error('time is over');
    ending.abort(reason);
    await expect(held).rejects.toBe(reason);
    await expect(check.mayGoOn(ending.signal)).rejects.toBe(reason);
    asked[0]?.resolve(false);
    await asked[0]?.promise;
    expect(hung).toEqual([false]);
  });
});
