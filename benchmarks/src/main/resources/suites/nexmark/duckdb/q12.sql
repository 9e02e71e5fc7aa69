-- Which window a bid falls into depends on when it was read: only the sums can be foreseen.
SELECT bidder, count(*)
FROM bid
WHERE rowid < ${clock}
GROUP BY bidder
