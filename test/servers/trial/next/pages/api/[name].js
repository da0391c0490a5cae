export default async function answer(request, response) {
  await globalThis.answerOfTrial(request.url, request, response);
  response.send('ok');
}
