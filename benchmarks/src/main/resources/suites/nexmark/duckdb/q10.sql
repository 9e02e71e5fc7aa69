SELECT auction, bidder, price, datetime, extra, strftime(datetime, '%Y-%m-%d'), strftime(datetime, '%H:%M')
FROM bid
