/** Reads the events of the team at this address, and makes objects of them, as a page does. */
const [, , url] = process.argv;
const response = await fetch(`${url}/watch/events`);
const decoder = new TextDecoder();
let text = '';
let events = 0;
for await (const chunk of response.body ?? []) {
  text += decoder.decode(chunk, { stream: true });
  for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
    const data = /^data: (.*)$/m.exec(text.slice(0, end))?.[1];
    text = text.slice(end + 2);
    if (data === undefined) continue;
    const value: unknown = JSON.parse(data);
    if (events === 0) console.log('attached');
    events += Array.isArray(value) ? value.length : 1;
  }
}
