-- Events of a thousand advertisements, ten of each of a hundred campaigns; a third of the events are views.
-- ${events} of them, ${rate} per second of event time. The advertisements' numbers are random by their place in the stream.
CREATE STREAM events (
    user_id TEXT NOT NULL, page_id TEXT NOT NULL, ad_id BIGINT NOT NULL, ad_type TEXT NOT NULL, event_type TEXT NOT NULL,
    event_time TIMESTAMP NOT NULL, ip_address TEXT NOT NULL,
    WATERMARK FOR event_time AS event_time - INTERVAL '1 second'
) WITH (
    connector = 'datagen', rows = ${events},
    user_id.length = 36, page_id.length = 36, ad_id.max = 999,
    ad_type.values = 'banner,modal,sponsored-search,mail,mobile', event_type.values = 'view,click,purchase',
    event_time.step = '${step}', event_time.jitter = '500ms', ip_address.values = '1.2.3.4'
);

-- Which campaign an advertisement belongs to.
CREATE TABLE campaigns (ad_id BIGINT PRIMARY KEY, campaign_id BIGINT NOT NULL);
INSERT INTO campaigns
SELECT n, n / 10
FROM generate_series(0, 999) AS ads(n);
