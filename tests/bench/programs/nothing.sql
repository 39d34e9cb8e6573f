-- What is there before work.sql begins.
.timer on
