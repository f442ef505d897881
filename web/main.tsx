import { render } from 'preact';
import { App } from './app.tsx';
import { goLive } from './live/live.ts';
import { trustOwnScripts } from './own-scripts.ts';
import { startClock } from './state/clock.ts';
import { followAddress } from './state/place.ts';
import { exchangeToken } from './state/session.ts';
import './style/page.css';

trustOwnScripts();
await exchangeToken();
startClock();
followAddress();
goLive();
render(<App />, document.getElementById('page')!);
