/** Loaded with `--import` before a program: writes the most memory that its process ever had, in bytes. */
import { writeFileSync } from 'node:fs';

process.once('exit', () => writeFileSync(process.env.PEAK_MEMORY_FILE!, String(process.resourceUsage().maxRSS * 1024)));
