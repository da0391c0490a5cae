// The one tool of the test agents.
export const weatherTool = {
  name: 'get_weather',
  description: 'Weather of a city',
  parameters: {
    type: 'object',
    properties: { city: { type: 'string' } },
    required: ['city'],
    additionalProperties: false,
  },
};

export const weather = ({ city }) => `${city}: 3 degrees, snow — ❄`;
