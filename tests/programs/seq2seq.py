"""Sequence to sequence with Bahdanau attention and teacher forcing: digits, reversed."""

import random

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import optim

torch.manual_seed(9)
random.seed(9)
SOS, EOS, DIGITS, LENGTH = 0, 1, 6, 4


class Encoder(nn.Module):
    def __init__(self, input_size, hidden_size, dropout_p=0.1):
        super(Encoder, self).__init__()
        self.embedding = nn.Embedding(input_size, hidden_size)
        self.gru = nn.GRU(hidden_size, hidden_size, batch_first=True)
        self.dropout = nn.Dropout(dropout_p)

    def forward(self, input):
        embedded = self.dropout(self.embedding(input))
        output, hidden = self.gru(embedded)
        return output, hidden


class BahdanauAttention(nn.Module):
    def __init__(self, hidden_size):
        super(BahdanauAttention, self).__init__()
        self.Wa = nn.Linear(hidden_size, hidden_size)
        self.Ua = nn.Linear(hidden_size, hidden_size)
        self.Va = nn.Linear(hidden_size, 1)

    def forward(self, query, keys):
        scores = self.Va(torch.tanh(self.Wa(query) + self.Ua(keys)))
        scores = scores.squeeze(2).unsqueeze(1)
        weights = F.softmax(scores, dim=-1)
        context = torch.bmm(weights, keys)
        return context, weights


class AttnDecoder(nn.Module):
    def __init__(self, hidden_size, output_size):
        super(AttnDecoder, self).__init__()
        self.embedding = nn.Embedding(output_size, hidden_size)
        self.attention = BahdanauAttention(hidden_size)
        self.gru = nn.GRU(2 * hidden_size, hidden_size, batch_first=True)
        self.out = nn.Linear(hidden_size, output_size)

    def forward(self, encoder_outputs, encoder_hidden, target_tensor=None):
        batch_size = encoder_outputs.size(0)
        decoder_input = torch.empty(batch_size, 1, dtype=torch.long).fill_(SOS)
        decoder_hidden, outputs, attentions = encoder_hidden, [], []
        for i in range(LENGTH + 1):
            output, decoder_hidden, weights = self.forward_step(
                decoder_input, decoder_hidden, encoder_outputs
            )
            outputs.append(output)
            attentions.append(weights)
            if target_tensor is not None:
                decoder_input = target_tensor[:, i].unsqueeze(1)  # teacher forcing
            else:
                _, topi = output.topk(1)
                decoder_input = topi.squeeze(-1).detach()
        outputs = F.log_softmax(torch.cat(outputs, dim=1), dim=-1)
        return outputs, decoder_hidden, torch.cat(attentions, dim=1)

    def forward_step(self, input, hidden, encoder_outputs):
        embedded = self.embedding(input)
        query = hidden.permute(1, 0, 2)
        context, weights = self.attention(query, encoder_outputs)
        output, hidden = self.gru(torch.cat((embedded, context), dim=2), hidden)
        return self.out(output), hidden, weights


def batch(count):
    digits = torch.randint(2, DIGITS + 2, (count, LENGTH))
    end = torch.full((count, 1), EOS)
    return torch.cat([digits, end], 1), torch.cat([digits.flip(1), end], 1)


encoder, decoder = Encoder(DIGITS + 2, 24), AttnDecoder(24, DIGITS + 2)
encoder_optimizer = optim.Adam(encoder.parameters(), lr=0.01)
decoder_optimizer = optim.Adam(decoder.parameters(), lr=0.01)
criterion = nn.NLLLoss()
for step in range(1, 31):
    source, target = batch(32)
    encoder_optimizer.zero_grad()
    decoder_optimizer.zero_grad()
    encoder_outputs, encoder_hidden = encoder(source)
    forced = target if random.random() < 0.7 else None
    decoder_outputs, _, _ = decoder(encoder_outputs, encoder_hidden, forced)
    loss = criterion(decoder_outputs.view(-1, decoder_outputs.size(-1)), target.view(-1))
    loss.backward()
    encoder_optimizer.step()
    decoder_optimizer.step()
    if step % 6 == 0:
        print(f"loss {loss.item():.4f}")
encoder.eval()
decoder.eval()
with torch.no_grad():
    source, target = batch(20)
    outputs, _, attention = decoder(*encoder(source))
    decoded = outputs.argmax(-1)
print((decoded == target).float().mean().item() > 0.4, attention.shape)
print(attention.sum(-1).allclose(torch.ones(20, LENGTH + 1)))
