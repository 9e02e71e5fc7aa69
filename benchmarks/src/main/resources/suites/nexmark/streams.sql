-- The suite's three streams. ${events} of all kinds together, ${rate} of them per second of event time.
CREATE STREAM person (
    id BIGINT NOT NULL, name TEXT NOT NULL, emailaddress TEXT NOT NULL, creditcard TEXT NOT NULL, city TEXT NOT NULL,
    state TEXT NOT NULL, datetime TIMESTAMP NOT NULL, extra TEXT NOT NULL,
    WATERMARK FOR datetime AS datetime - INTERVAL '4 seconds'
) WITH (connector = 'nexmark', "table" = 'person', events = ${events}, rate = ${rate});

CREATE STREAM auction (
    id BIGINT NOT NULL, itemname TEXT NOT NULL, description TEXT NOT NULL, initialbid BIGINT NOT NULL,
    reserve BIGINT NOT NULL, datetime TIMESTAMP NOT NULL, expires TIMESTAMP NOT NULL, seller BIGINT NOT NULL,
    category BIGINT NOT NULL, extra TEXT NOT NULL,
    WATERMARK FOR datetime AS datetime - INTERVAL '4 seconds'
) WITH (connector = 'nexmark', "table" = 'auction', events = ${events}, rate = ${rate});

CREATE STREAM bid (
    auction BIGINT NOT NULL, bidder BIGINT NOT NULL, price BIGINT NOT NULL, channel TEXT NOT NULL, url TEXT NOT NULL,
    datetime TIMESTAMP NOT NULL, extra TEXT NOT NULL,
    WATERMARK FOR datetime AS datetime - INTERVAL '4 seconds'
) WITH (connector = 'nexmark', "table" = 'bid', events = ${events}, rate = ${rate});

-- The bounded side input of q13: two thirds of the keys have a value.
CREATE TABLE side_input (key BIGINT PRIMARY KEY, value TEXT NOT NULL);
INSERT INTO side_input
SELECT n, 'value of ' || n
FROM generate_series(0, 9999) AS keys(n)
WHERE mod(n, 3) <> 0;
