/** Tokens of chat, mail, telephony and social services, and their webhooks. */
import { type Shape, shape } from './shape.ts';

export function messageShapes(): Shape[] {
  return [
    shape('slack-bot-token', 'xoxb-', /[\w-]{10,150}/),
    shape('slack-user-token', 'xoxp-', /[\w-]{10,150}/),
    shape('slack-workspace-token', 'xoxa- xoxo- xoxr- xoxs-', /[\w-]{10,250}/),
    shape('slack-browser-token', 'xoxc- xoxd-', /[\w%+/=-]{10,400}/),
    shape('slack-configuration-token', 'xoxe. xoxe-', /[\w.-]{10,300}/),
    shape('slack-app-token', 'xapp-', /[\w-]{16,200}/),
    shape('slack-sign-in-link', 'z-app-', /\d{6,16}-\d{6,16}-[0-9a-f]{40,70}/),
    shape('slack-webhook', 'hooks.slack.com/', /(?:services|workflows|triggers)\/[\w/-]{16,150}/),
    shape(
      'discord-webhook',
      'discord.com/api/webhooks/ discordapp.com/api/webhooks/',
      /\d{10,22}\/[\w-]{16,100}/,
    ),
    shape('teams-webhook', 'webhook.office.com/', /webhookb?2?\/[\w@/-]{40,300}/),
    shape('office-connector', 'outlook.office.com/webhook/', /[\w@/-]{40,300}/),
    shape('vk-token', 'vk1.a.', /[\w-]{30,250}/),
    shape('facebook-long-token', 'EAA', /[A-Za-z0-9]{90,400}/, { wholeWord: true, random: true }),
    shape('zapier-webhook', 'hooks.zapier.com/hooks/catch/', /\d{3,12}\/[\w/]{4,40}/),
    shape(
      'google-chat-webhook',
      'chat.googleapis.com/v1/spaces/',
      /[\w-]{4,30}\/messages\?key=[\w-]{10,60}&token=[\w%-]{10,120}/,
    ),
    shape(
      'make-webhook',
      'hook.eu1.make.com/ hook.eu2.make.com/ hook.us1.make.com/ hook.us2.make.com/ hook.integromat.com/',
      /[a-z0-9]{16,60}/,
    ),
    shape('ifttt-webhook', 'maker.ifttt.com/trigger/', /[\w-]{1,60}\/(?:json\/)?with\/key\/[\w-]{12,80}/),
    shape('discord-token', 'mfa.', /[\w-]{40,100}/, { wholeWord: true }),
    shape(
      'twilio-api-key',
      'SK0 SK1 SK2 SK3 SK4 SK5 SK6 SK7 SK8 SK9 SKa SKb SKc SKd SKe SKf',
      /[0-9a-f]{18,31}(?![0-9a-zA-Z])/,
      { wholeWord: true },
    ),
    shape('facebook-token', 'EAAB EAAC EAAD EAAG EAAI EAAJ EAAL EAAM EAAN EAAQ EAAV', /[A-Za-z0-9]{40,400}/, {
      wholeWord: true,
      random: true,
    }),
    shape('instagram-token', 'IGQV IGAA', /[\w-]{30,300}/, { wholeWord: true, random: true }),
    shape('twitter-bearer', 'AAAAAAAAAAAAAAAAAAAAA', /[A-Za-z0-9%]{40,200}/, {
      wholeWord: true,
      random: true,
    }),
    shape('linkedin-secret', 'WPL_AP', /\d\.[A-Za-z0-9.=]{12,40}/),
    shape('twitch-token', 'oauth:', /[a-z0-9]{24,40}/, { wholeWord: true, random: true }),
    shape('matrix-token', 'syt_ mct_ mcr_', /[A-Za-z0-9_]{16,200}/, { random: true }),
    shape('sendgrid-key', 'SG.', /[\w-]{10,40}\.[\w-]{10,60}/, { wholeWord: true }),
    shape('mailgun-key', 'key-', /[0-9a-f]{26,40}/, { wholeWord: true }),
    shape('mailgun-public-key', 'pubkey-', /[0-9a-f]{26,40}/, { wholeWord: true }),
    shape('resend-key', 're_', /[A-Za-z0-9]{6,12}_[A-Za-z0-9]{8,40}/, { wholeWord: true, random: true }),
    shape('brevo-key', 'xkeysib- xsmtpsib-', /[0-9a-f]{20,70}(?:-[A-Za-z0-9]{10,24})?/),
    shape('mandrill-key', 'md-', /[A-Za-z0-9_-]{22}(?![\w-])/, { wholeWord: true, random: true }),
    shape('mailersend-token', 'mlsn.', /[0-9a-f]{30,80}/),
    shape('sendinblue-smtp', 'xkeysmtp-', /[\w-]{20,90}/),
    shape('courier-key', 'pk_prod_ pk_test_courier_', /[A-Z0-9]{20,40}/),
    shape('telnyx-key', 'KEY0', /[0-9A-F]{24,50}_[A-Za-z0-9]{16,40}/, { wholeWord: true }),
  ];
}
