import { PLANETS } from 'orrery/planets';
import { listUnread } from '../about-mission/list-unread.ts';
import { allTools } from '../all-tools.ts';
import { missionUnread } from '../capabilities.ts';
import { listRepository, type RepositoryFiles } from '../list-repository.ts';
import { LIST_REPOSITORY, missionPlanet } from '../planet.ts';

export const andromeda = missionPlanet(PLANETS.andromeda, missionUnread, async ({ root, results }, ctx) => {
  const listed = await ctx.effect<RepositoryFiles>(LIST_REPOSITORY, (signal) => listRepository(root, signal));
  return listUnread(listed, await allTools(), results);
});
