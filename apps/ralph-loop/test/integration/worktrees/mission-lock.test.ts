import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { identityOf } from 'orrery/coding';
import { MissionLock } from '../../../worktrees/mission-lock.ts';
import { MISSION, Project } from './project.ts';

describe('the lock of a mission', () => {
  it('is refused while its process lives, this one included, and free when it is released', async () => {
    await using project = new Project();
    const { repository, lock } = await project.mission();
    await expect(MissionLock.take(repository, MISSION)).rejects.toThrow(
      new RegExp(`"Spring clean" is carried out in this repository by process ${process.pid} already`),
    );
    await lock.release();
    await (await MissionLock.take(repository, MISSION)).release();
    expect(readdirSync(join(project.path, '.orrery/worktrees/spring-clean'))).toEqual([]);
  });

  it('is taken from a process that is dead, from one whose number another has now, and when it cannot be read', async () => {
    await using project = new Project();
    const { repository, lock } = await project.mission();
    const file = join(project.path, '.orrery/worktrees/spring-clean/lock');
    const child = spawn('cat', { stdio: ['pipe', 'ignore', 'ignore'] });
    await once(child, 'spawn');
    const identity = identityOf(child.pid ?? 0);
    await lock.release();
    writeFileSync(file, JSON.stringify(identity));
    await expect(MissionLock.take(repository, MISSION)).rejects.toThrow(`by process ${child.pid} already`);
    expect(readFileSync(file, 'utf8')).toBe(JSON.stringify(identity));
    child.stdin.end();
    await once(child, 'close');
    const others = [
      JSON.stringify(identity),
      JSON.stringify({ ...identityOf(process.pid), start: '1' }),
      '',
      '{}',
    ];
    for (const text of others) {
      writeFileSync(file, text);
      await (await MissionLock.take(repository, MISSION)).release();
      expect(existsSync(file)).toBe(false);
    }
  });

  it('stops merges when somebody removed it', async () => {
    await using project = new Project();
    const mission = await project.mission();
    const snapshot = await mission.changed({ one: '1' });
    await mission.lock.release();
    await expect(mission.merge(snapshot)).rejects.toThrow(/is no longer held by this process/);
  });
});
