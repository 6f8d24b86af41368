export { DEFAULT_TIER_ASSIGNMENTS, PLANETS, type Planet } from './planets.ts';
