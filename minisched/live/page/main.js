import { appendLine } from './lines.js';

const events = new EventSource('/live/events');
for (const type of ['start', 'resume', 'message']) {
  events.addEventListener(type, (event) => {
    appendLine(document.querySelector('#events'), `${type} ${event.data}`);
  });
}
