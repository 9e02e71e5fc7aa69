{{ config(materialized='table', indexes=[{'columns': ['customer'], 'unique': true}]) }}
select customer, sum(amount) as total, count(*) as n from {{ ref('stg_orders') }} group by 1
